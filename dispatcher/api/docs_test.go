package api_test

import (
	"archive/zip"
	"bytes"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"judgefarm/dispatcher/api"
	"judgefarm/judge"
)

// Every curl command of docs/api.md is sent as it stands and answered as the page says.
func TestDocumentedExamples(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "api.md"))
	if err != nil {
		t.Fatal(err)
	}
	s := serve(t, func(c *api.Config) { c.MaxWait = 10 * time.Millisecond })
	upload := packageZip(t)
	if _, err := s.Service.PutProblem(t.Context(), "aplusb", bytes.NewReader(upload)); err != nil {
		t.Fatal(err)
	}
	j := s.do(t, "POST", "/v1/submissions", hello).judgement(t, http.StatusCreated)
	s.Finish(t, s.Start(t, j.ID), judge.Accepted) // or the stream would not end

	commands := curlCommands(string(page))
	if len(commands) < 8 {
		t.Fatalf("got %d commands in docs/api.md, want at least 8", len(commands))
	}
	for _, command := range commands {
		words := shellWords(t, strings.ReplaceAll(command, "$id", j.ID))
		method, path, body, header := "GET", "", "", []string{}
		for i := 1; i < len(words); i++ {
			switch word := words[i]; word {
			case "-s", "-N":
			case "-X":
				i++
				method = words[i]
			case "-H":
				i++
				name, value, _ := strings.Cut(words[i], ": ")
				header = append(header, name, value)
			case "-d":
				i++
				method, body = "POST", words[i]
			case "-T":
				i++
				method, body = "PUT", string(upload)
			default:
				path = strings.TrimPrefix(word, "127.0.0.1:8080")
				if path == word {
					t.Fatalf("word %q of %q is not known here", word, command)
				}
			}
		}
		if res := s.do(t, method, path, body, header...); res.StatusCode < 200 || res.StatusCode > 202 {
			t.Errorf("%s\nis answered %d: %s", command, res.StatusCode, res.body)
		}
	}
}

func packageZip(t *testing.T) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, f := range [][2]string{{"1.in", "1 2\n"}, {"1.out", "3\n"}} {
		w, err := z.Create(f[0])
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(f[1])); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// curlCommands returns the commands in the page's sh blocks; one goes on while a
// single quote is open.
func curlCommands(page string) []string {
	var commands []string
	for block := range strings.SplitSeq(page, "```sh\n") {
		block, _, ok := strings.Cut(block, "\n```")
		if !ok || !strings.HasPrefix(block, "curl ") {
			continue
		}
		command := ""
		for line := range strings.SplitSeq(block, "\n") {
			command += line + "\n"
			if strings.Count(command, "'")%2 == 0 {
				commands = append(commands, strings.TrimSpace(command))
				command = ""
			}
		}
	}
	return commands
}

// shellWords splits at blanks outside of quotes; that is all the page needs.
func shellWords(t *testing.T, command string) []string {
	t.Helper()
	var (
		words []string
		word  strings.Builder
		quote rune
		begun bool
	)
	for _, r := range command + " " {
		switch {
		case quote != 0 && r == quote:
			quote = 0
		case quote != 0:
			word.WriteRune(r)
		case r == '\'' || r == '"':
			quote, begun = r, true
		case r == ' ' || r == '\n':
			if begun {
				words = append(words, word.String())
			}
			word.Reset()
			begun = false
		default:
			word.WriteRune(r)
			begun = true
		}
	}
	if quote != 0 {
		t.Fatalf("an open quote in %q", command)
	}
	return words
}
