package blob

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"
)

// Bounds of talking to an S3 service.
const (
	maxObject    = int64(5) << 30         // of a single PUT, the only way objects are written here
	dialTimeout  = 5 * time.Second        // to connect, and again for TLS
	answerWait   = 30 * time.Second       // for the first byte of an answer, and for any further piece of a body
	slowestRate  = int64(256) << 10       // bytes a second that an upload must reach, beside answerWait
	tries        = 4                      // of one call, where trying again is safe
	firstBackoff = 100 * time.Millisecond // doubled after each try
)

// emptyDigest is the SHA-256 of nothing.
const emptyDigest = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

var (
	errUploadSlow = errors.New("upload too slow: the object store did not take it in time")
	errStalled    = fmt.Errorf("download stalled: nothing came for %v", answerWait)
)

// S3 is a Store in a bucket of an S3-compatible service. Calls that fail for a
// passing reason are tried up to four times; a Put only when its source can be read
// again (an io.Seeker). When a connection breaks at the very end of a Put the
// object may be there whole although Put gives an error; it is never there in part.
type S3 struct {
	core    minio.Core
	bucket  string
	name    string // for messages: endpoint/bucket
	written atomic.Bool
}

// s3Options is what newS3 needs; Config.Open fills it.
type s3Options struct {
	endpoint, bucket, region string
	secure, virtualHost      bool
	creds                    *credentials.Credentials
}

func newS3(o s3Options) (*S3, error) {
	lookup := minio.BucketLookupPath
	if o.virtualHost {
		lookup = minio.BucketLookupDNS
	}
	client, err := minio.New(o.endpoint, &minio.Options{
		Creds: o.creds, Secure: o.secure, Region: o.region, BucketLookup: lookup,
		MaxRetries: 1, // our own loop knows which calls may be repeated
		Transport:  newTransport(),
	})
	if err != nil {
		return nil, err
	}
	return &S3{core: minio.Core{Client: client}, bucket: o.bucket, name: o.endpoint + "/" + o.bucket}, nil
}

func newTransport() *http.Transport {
	return &http.Transport{
		Proxy:                 http.ProxyFromEnvironment,
		DialContext:           (&net.Dialer{Timeout: dialTimeout, KeepAlive: 15 * time.Second}).DialContext,
		TLSHandshakeTimeout:   dialTimeout,
		ResponseHeaderTimeout: answerWait,
		ExpectContinueTimeout: time.Second,
		MaxIdleConnsPerHost:   64,
		IdleConnTimeout:       time.Minute,
		DisableCompression:    true, // else sizes of gzipped answers would be unknown
	}
}

// Put implements Store.
func (s *S3) Put(ctx context.Context, key string, r io.Reader, size int64, contentType string) error {
	if err := CheckKey(key); err != nil {
		return err
	}
	if size < 0 || size > maxObject {
		return fmt.Errorf("put %s: size is %d bytes, must be 0 to 5 GiB", key, size)
	}
	ctx, cancel := context.WithTimeoutCause(ctx,
		tries*answerWait+time.Duration(size/slowestRate)*time.Second, errUploadSlow)
	defer cancel()
	source, start := r, int64(0)
	seeker, again := r.(io.Seeker)
	if again {
		var err error
		if start, err = seeker.Seek(0, io.SeekCurrent); err != nil {
			again = false // a pipe behind an *os.File
		}
	}
	first := true
	err := s.try(ctx, again, func(ctx context.Context) error {
		if !first {
			if _, err := seeker.Seek(start, io.SeekStart); err != nil {
				return permanent(fmt.Errorf("read source again: %w", err))
			}
		}
		first = false
		return s.putOnce(ctx, key, source, size, contentType)
	})
	if err != nil {
		return fmt.Errorf("put %s: %w", key, err)
	}
	return nil
}

func (s *S3) putOnce(ctx context.Context, key string, r io.Reader, size int64, contentType string) error {
	body := newExact(ctx, r, size)
	if size == 0 { // no body is sent, so nobody else would look at the source
		if _, err := body.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
			return permanent(err)
		}
		// minio-go signs an empty body as a stream of unknown length, which AWS refuses.
		_, err := s.core.PutObject(ctx, s.bucket, key, http.NoBody, 0, "", emptyDigest,
			minio.PutObjectOptions{ContentType: contentType, DisableContentSha256: true})
		return err
	}
	// The size is always given: minio-go reserves half a gigabyte without it. One PUT,
	// no multipart, so that a broken upload leaves no parts to pay for.
	_, err := s.core.Client.PutObject(ctx, s.bucket, key, body, size, minio.PutObjectOptions{
		ContentType: contentType, DisableMultipart: true,
	})
	if body.failed != nil {
		return permanent(body.failed)
	}
	return err
}

// Get implements Store. Reading the body ends with an error when nothing comes for
// 30 seconds or ctx ends, and never gives less than the size without one.
func (s *S3) Get(ctx context.Context, key string) (io.ReadCloser, int64, error) {
	if err := CheckKey(key); err != nil {
		return nil, 0, err
	}
	var body *download
	err := s.try(ctx, true, func(ctx context.Context) error {
		ctx, cancel := context.WithCancelCause(ctx)
		r, info, _, err := s.core.GetObject(ctx, s.bucket, key, minio.GetObjectOptions{})
		if err != nil {
			cancel(nil)
			return err
		}
		body = &download{ctx: ctx, body: r, cancel: cancel, size: info.Size}
		return nil
	})
	if err != nil {
		return nil, 0, fmt.Errorf("get %s: %w", key, err)
	}
	return body, body.size, nil
}

// download is the body of a Get; it watches that each Read comes to something.
type download struct {
	ctx    context.Context // of this one request
	cancel context.CancelCauseFunc
	body   io.ReadCloser
	size   int64
}

// Read implements io.Reader.
func (d *download) Read(p []byte) (int, error) {
	watch := time.AfterFunc(answerWait, func() { d.cancel(errStalled) })
	defer watch.Stop()
	n, err := d.body.Read(p)
	if err != nil && !errors.Is(err, io.EOF) && d.ctx.Err() != nil {
		err = context.Cause(d.ctx)
	}
	return n, err
}

// Close implements io.Closer.
func (d *download) Close() error {
	defer d.cancel(nil)
	return d.body.Close()
}

// Stat implements Store.
func (s *S3) Stat(ctx context.Context, key string) (size int64, err error) {
	if err := CheckKey(key); err != nil {
		return 0, err
	}
	err = s.try(ctx, true, func(ctx context.Context) error {
		info, err := s.core.StatObject(ctx, s.bucket, key, minio.StatObjectOptions{})
		size = info.Size
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("stat %s: %w", key, err)
	}
	return size, nil
}

// List implements Store.
func (s *S3) List(ctx context.Context, prefix, after string, max int) (keys []string, err error) {
	if err := checkPrefix(prefix); err != nil {
		return nil, err
	}
	if max <= 0 {
		return nil, context.Cause(ctx)
	}
	err = s.try(ctx, true, func(ctx context.Context) error {
		ctx, cancel := context.WithCancel(ctx) // ends the lister when the page is full
		defer cancel()
		keys = nil
		for info := range s.core.Client.ListObjectsIter(ctx, s.bucket, minio.ListObjectsOptions{
			Prefix: prefix, StartAfter: after, Recursive: true, MaxKeys: min(max, 1000),
		}) {
			if info.Err != nil {
				return info.Err
			}
			if keys = append(keys, info.Key); len(keys) == max {
				return nil
			}
		}
		return context.Cause(ctx)
	})
	if err != nil {
		return nil, fmt.Errorf("list %s: %w", prefix, err)
	}
	return keys, nil
}

// Delete implements Store.
func (s *S3) Delete(ctx context.Context, key string) error {
	if err := CheckKey(key); err != nil {
		return err
	}
	err := s.try(ctx, true, func(ctx context.Context) error {
		return s.core.RemoveObject(ctx, s.bucket, key, minio.RemoveObjectOptions{})
	})
	if err != nil && !errors.Is(err, ErrNotFound) {
		return fmt.Errorf("delete %s: %w", key, err)
	}
	return nil
}

// Ready implements Store: the bucket is there and, asked until it worked once, may be
// written to.
func (s *S3) Ready(ctx context.Context) error {
	// A listing, not HEAD: only a GET's error has a body that tells what is wrong.
	if _, err := s.List(ctx, "ready/", "", 1); err != nil {
		return fmt.Errorf("reach bucket %s: %w; %s", s.name, err, fixFor(err))
	}
	if s.written.Load() {
		return nil
	}
	probe := "ready/" + rand.Text()
	if err := s.Put(ctx, probe, strings.NewReader("ready\n"), 6, "text/plain"); err != nil {
		return fmt.Errorf("write to bucket %s: %w; %s", s.name, err, fixFor(err))
	}
	if err := s.Delete(ctx, probe); err != nil {
		return fmt.Errorf("write to bucket %s: %w; %s", s.name, err, fixFor(err))
	}
	s.written.Store(true)
	return nil
}
