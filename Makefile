# judgefarm: make demo, then make test. make help lists the rest.

GO     ?= go
BINARY := bin/judgefarm
TOOL   := $(GO) tool -modfile=tools/go.mod
GOFMT   = $(shell $(GO) env GOROOT)/bin/gofmt
# Sources that must be formatted; testdata holds programs that must not compile.
GOFILES = $(shell git ls-files '*.go' | grep -v /testdata/)

.DEFAULT_GOAL := help
.PHONY: demo up build build-arm64 test race lint test-languages test-root test-vm2 test-vm test-arm64 attacks soak check bench fmt clean help

demo: ## judge the bundled problems' labelled submissions and compare the verdicts
	@scripts/install.sh core
	@$(MAKE) --no-print-directory build
	@$(BINARY) demo $(ARGS)

up: build ## start everything in one process on 127.0.0.1:8080
	@$(BINARY) serve $(ARGS)

build: ## build bin/judgefarm
	@scripts/install.sh build
	@$(GO) build -o $(BINARY) ./cmd/judgefarm

build-arm64: ## compile and vet everything for arm64 too
	@scripts/apt.sh gcc-aarch64-linux-gnu libc6-dev-arm64-cross
	@CGO_ENABLED=1 CC=aarch64-linux-gnu-gcc GOARCH=arm64 $(GO) build ./...
	@CGO_ENABLED=1 CC=aarch64-linux-gnu-gcc GOARCH=arm64 $(GO) vet ./...

test: ## install what the tests need and run all of them, with the race detector
	@scripts/install.sh test
	@$(MAKE) --no-print-directory build
	@$(MAKE) --no-print-directory race FLAGS=-count=1
	@$(MAKE) --no-print-directory test-vm2

# The box's tests measure: nothing runs beside them.
race: ## all tests with the race detector but those on other kernels
	@LOG=tmp/gotest-sandbox.log scripts/gotest.sh -race -timeout 30m $(FLAGS) ./judge/sandbox
	@scripts/gotest.sh -race -timeout 30m $(FLAGS) $$($(GO) list ./... | grep -v '/judge/sandbox$$')

test-vm2: ## run the box's tests on a machine with cgroup v2 (user-mode Linux)
	@scripts/apt.sh user-mode-linux
	@timeout 1300 scripts/vm/uml.sh

test-vm: ## the same in an emulated PC with Linux 6.12: cpuset, PSI, two CPUs, Landlock (minutes)
	@scripts/apt.sh qemu-system-x86 qemu-system-common
	@scripts/vm/qemu.sh

test-arm64: ## the same in an emulated arm64 machine (many minutes)
	@scripts/apt.sh qemu-system-arm qemu-system-common gcc-aarch64-linux-gnu libc6-dev-arm64-cross
	@ARCH=arm64 scripts/vm/qemu.sh

test-languages: build ## install every toolchain and run every language's self-test
	@scripts/toolchains.sh --all
	@$(BINARY) languages --self-test

test-root: build ## build a root of its own for a language twice, the second time from its lock
	@scripts/root.sh

attacks: ## run the misbehaving submissions 20 times over: no verdict may differ
	@scripts/install.sh test
	@scripts/gotest.sh -count=20 -timeout 120m -run 'TestAttacks|TestResultAttacks|TestNamesThat|TestSetuid|TestNobody|TestNeighbours|TestAnswers|TestRules|TestNoNetwork|TestNothing|TestHidden|TestMadeFiles|TestThreads|TestInteractive$$|TestDrowned|TestSecondDialogues' ./judge/sandbox ./judge/compile ./judge/engine ./judge/checker ./dispatcher/api

RUNS ?= 50000
soak: ## RUNS=50000 cases through daemons while a worker is killed at random: nothing stays, nothing grows
	@scripts/install.sh build
	@scripts/apt.sh redis-server
	@scripts/soak.sh $(RUNS) $(SEED)

check: lint race ## what a change must pass: lint, then all tests but those on other kernels

lint: ## gofmt, vet, staticcheck, the same for arm64
	@scripts/install.sh test
	@for f in scripts/*.sh scripts/vm/*.sh .ci/run; do bash -n "$$f" || exit 1; done
	@out=$$($(GOFMT) -l $(GOFILES)); [ -z "$$out" ] || { echo "not formatted (make fmt):"; echo "$$out"; exit 1; }
	@$(GO) vet ./...
	@$(GO) vet -tags soak ./cmd/judgefarm
	@$(TOOL) staticcheck ./...
	@$(MAKE) --no-print-directory build-arm64

bench: build ## measure this machine: bare fork+exec, box, judge, queue
	@$(BINARY) bench $(ARGS)

fmt: ## format the Go sources
	@$(GOFMT) -w $(GOFILES)

clean: ## remove what make built
	rm -rf bin tmp

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "  make %-15s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)
