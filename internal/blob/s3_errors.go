package blob

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/minio/minio-go/v7"
)

// permanentError marks an error that no second try can mend.
type permanentError struct{ error }

func (p permanentError) Unwrap() error { return p.error }

func permanent(err error) error { return permanentError{err} }

// try calls once, or up to the bound where again allows it, waiting between tries.
func (s *S3) try(ctx context.Context, again bool, call func(ctx context.Context) error) error {
	wait := firstBackoff
	for n := 1; ; n++ {
		err := call(ctx)
		if err == nil {
			return nil
		}
		if !again || n == tries || ctx.Err() != nil || !passing(err) {
			return explain(ctx, err)
		}
		// Half of the wait is drawn by lot, so that many workers do not come back at once.
		pause := time.NewTimer(wait/2 + rand.N(wait/2))
		select {
		case <-ctx.Done():
			pause.Stop()
			return explain(ctx, err)
		case <-pause.C:
		}
		wait *= 2
	}
}

// passing tells whether the same call may succeed a moment later.
func passing(err error) bool {
	var fixed permanentError
	if errors.As(err, &fixed) {
		return false
	}
	var resp minio.ErrorResponse
	if errors.As(err, &resp) && resp.StatusCode != 0 {
		switch resp.StatusCode {
		case http.StatusRequestTimeout, http.StatusTooManyRequests:
			return true
		}
		return resp.StatusCode >= 500 && resp.StatusCode != http.StatusNotImplemented || resp.Code == "RequestTimeout"
	}
	var network net.Error
	return errors.As(err, &network) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
}

// explain gives the cause instead of "context canceled", and ErrNotFound its name.
func explain(ctx context.Context, err error) error {
	var fixed permanentError
	if errors.As(err, &fixed) {
		return fixed.error
	}
	if cause := context.Cause(ctx); cause != nil {
		return fmt.Errorf("%w (%w)", cause, err)
	}
	var resp minio.ErrorResponse
	if !errors.As(err, &resp) {
		return err
	}
	switch {
	case resp.Code == minio.NoSuchKey:
		return fmt.Errorf("%w (%w)", ErrNotFound, err)
	case resp.StatusCode == 0: // minio-go refused it before sending
		return err
	}
	return fmt.Errorf("the object store answered %d %s: %w", resp.StatusCode, resp.Code, err)
}

// fixFor says what an operator can do about an error.
func fixFor(err error) string {
	var (
		resp minio.ErrorResponse
		dns  *net.DNSError
	)
	text := err.Error()
	switch {
	case errors.As(err, &resp) && resp.Code == "NoSuchBucket":
		return "the bucket does not exist: create it or name another one"
	case errors.As(err, &resp) && resp.Code == "SignatureDoesNotMatch":
		return "the secret key is wrong"
	case errors.As(err, &resp) && resp.Code == "InvalidAccessKeyId":
		return "the access key is wrong"
	case errors.As(err, &resp) && resp.StatusCode == http.StatusForbidden:
		return "check access key, secret key and what they may do in this bucket"
	case errors.As(err, &resp) && (resp.StatusCode == http.StatusMovedPermanently || resp.Code == "AuthorizationHeaderMalformed"):
		return "the bucket lies in another region: set the region"
	case strings.Contains(text, "server gave HTTP response to HTTPS client"):
		return "the service speaks no TLS: write http:// in its URL"
	case strings.Contains(text, "x509:"), strings.Contains(text, "certificate"):
		return "the service's certificate is not trusted here: install its authority's certificate"
	case errors.As(err, &dns):
		return "the host name is unknown: check the URL"
	}
	return "check that the service runs and that the URL is right"
}
