package blob_test

import (
	"net/http/httptest"
	"testing"

	"judgefarm/internal/blob"
	"judgefarm/internal/blob/blobtest"
	"judgefarm/internal/testenv"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"
)

func TestMemory(t *testing.T) {
	t.Parallel()
	blobtest.Run(t, func(*testing.T) blob.Store { return blob.NewMemory(0) })
}

func TestDirectory(t *testing.T) {
	t.Parallel()
	blobtest.Run(t, func(t *testing.T) blob.Store {
		d, err := blob.NewDirectory(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = d.Close() })
		return d
	})
}

func TestS3Real(t *testing.T) {
	t.Parallel()
	blobtest.Run(t, func(t *testing.T) blob.Store { return openReal(t, testenv.S3(t)) })
}

func openReal(t *testing.T, srv *testenv.S3Server) blob.Store {
	t.Helper()
	s, err := blob.Open(blob.Config{URL: srv.URL(), Region: srv.Region, AccessKey: srv.AccessKey, SecretKey: srv.SecretKey})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestS3Fake(t *testing.T) {
	t.Parallel()
	blobtest.Run(t, func(t *testing.T) blob.Store {
		backend := s3mem.New()
		if err := backend.CreateBucket("farm"); err != nil {
			t.Fatal(err)
		}
		srv := httptest.NewServer(gofakes3.New(backend).Server())
		t.Cleanup(srv.Close)
		s, err := blob.Open(blob.Config{URL: srv.URL + "/farm", AccessKey: "a", SecretKey: "s"})
		if err != nil {
			t.Fatal(err)
		}
		return s
	})
}
