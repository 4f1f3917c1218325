package testenv_test

import (
	"net/http"
	"testing"

	"judgefarm/internal/testenv"
)

func TestS3KillAndStart(t *testing.T) {
	t.Parallel()
	s := testenv.S3(t)
	for range 2 {
		resp, err := http.Get("http://" + s.Endpoint + "/health")
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		s.Kill()
		if resp, err := http.Get("http://" + s.Endpoint + "/health"); err == nil {
			resp.Body.Close()
			t.Fatal("a killed server answers")
		}
		s.Start(t)
	}
}
