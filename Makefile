# judgefarm: make demo, then make test. make help lists the rest.

GO     ?= go
BINARY := bin/judgefarm
TOOL   := $(GO) tool -modfile=tools/go.mod
GOFMT   = $(shell $(GO) env GOROOT)/bin/gofmt
# Sources that must be formatted; testdata holds programs that must not compile.
GOFILES = $(shell git ls-files '*.go' | grep -v /testdata/)

.DEFAULT_GOAL := help
.PHONY: demo up build test test-languages test-vm2 attacks check bench fmt clean help

demo: ## judge the bundled problems' labelled submissions and compare the verdicts
	@scripts/install.sh core
	@$(MAKE) --no-print-directory build
	@$(BINARY) demo $(ARGS)

up: build ## start everything in one process on 127.0.0.1:8080
	@$(BINARY) serve $(ARGS)

build: ## build bin/judgefarm
	@scripts/install.sh build
	@$(GO) build -o $(BINARY) ./cmd/judgefarm

test: ## install what the tests need and run all of them
	@scripts/install.sh test
	@$(MAKE) --no-print-directory build
	@$(MAKE) --no-print-directory test-vm2
	@scripts/gotest.sh -count=1 -timeout 20m ./...

test-vm2: ## run the box's tests on a machine with cgroup v2 (user-mode Linux)
	@scripts/apt.sh user-mode-linux
	@timeout 600 scripts/vm/uml.sh

test-languages: build ## install every toolchain and run every language's self-test
	@scripts/toolchains.sh --all
	@$(BINARY) languages --self-test

attacks: ## run the misbehaving submissions 20 times over: no verdict may differ
	@scripts/install.sh test
	@scripts/gotest.sh -count=20 -timeout 20m -run 'TestAttacks|TestNoNetwork|TestNothing|TestHidden|TestMadeFiles|TestThreads' ./judge/sandbox

check: ## gofmt, vet, staticcheck, race detector, shape tests
	@scripts/install.sh test
	@for f in scripts/*.sh .ci/run; do bash -n "$$f" || exit 1; done
	@out=$$($(GOFMT) -l $(GOFILES)); [ -z "$$out" ] || { echo "not formatted (make fmt):"; echo "$$out"; exit 1; }
	@$(GO) vet ./...
	@$(TOOL) staticcheck ./...
	@scripts/gotest.sh -race -timeout 20m ./...

bench: build ## measure this machine: bare fork+exec, box, judge, queue
	@$(BINARY) bench $(ARGS)

fmt: ## format the Go sources
	@$(GOFMT) -w $(GOFILES)

clean: ## remove what make built
	rm -rf bin tmp

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "  make %-15s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)
