package blob

import (
	"errors"
	"fmt"
	"net/url"
	"os"
	"strings"

	"github.com/minio/minio-go/v7/pkg/credentials"
)

// Config says where blobs are kept. Its tags make it a part of a command's flags.
type Config struct {
	URL         string `name:"blobs" help:"Where blobs are kept: a directory, memory:, or https://HOST[:PORT]/BUCKET (http:// without TLS) of an S3 service." placeholder:"URL"`
	Region      string `name:"s3-region" help:"Region of the S3 bucket." default:"us-east-1"`
	AccessKey   string `name:"s3-access-key" help:"Access key of the S3 service; else AWS_ACCESS_KEY_ID, else the AWS credentials file."`
	SecretKey   string `name:"s3-secret-key" help:"Secret key; better in JUDGEFARM_S3_SECRET_KEY or a file than on the command line."`
	SecretFile  string `name:"s3-secret-key-file" help:"File that holds the secret key." placeholder:"FILE"`
	VirtualHost bool   `name:"s3-virtual-host" help:"Put the bucket's name into the host name, not into the path."`
}

// Open opens the store that cfg names. It does not talk to a service yet: Ready does.
// Its errors name the field and what would be right.
func Open(cfg Config) (Store, error) {
	switch scheme, rest, _ := strings.Cut(cfg.URL, ":"); {
	case cfg.URL == "":
		return nil, errors.New("open blobs: no URL; give a directory, memory: or https://HOST/BUCKET")
	case cfg.URL == "memory:":
		return NewMemory(0), nil
	case scheme == "http" || scheme == "https":
		return cfg.openS3()
	case scheme == "file" && strings.HasPrefix(rest, "///"):
		return NewDirectory(strings.TrimPrefix(rest, "//"))
	case strings.HasPrefix(cfg.URL, "/"), !strings.Contains(cfg.URL, ":"):
		return NewDirectory(cfg.URL)
	}
	return nil, fmt.Errorf("open blobs: %q is no directory, memory:, file:///PATH or http(s)://HOST/BUCKET", cfg.URL)
}

func (cfg Config) openS3() (Store, error) {
	u, err := url.Parse(cfg.URL)
	if err != nil {
		return nil, errors.New("open blobs: the URL cannot be read; write https://HOST[:PORT]/BUCKET")
	}
	bucket := strings.Trim(u.Path, "/")
	switch {
	case u.User != nil:
		return nil, errors.New("open blobs: the URL must not hold credentials; use the access key and secret key settings")
	case u.Host == "" || bucket == "" || strings.Contains(bucket, "/") || u.RawQuery != "" || u.Fragment != "":
		return nil, fmt.Errorf("open blobs: %q must be http(s)://HOST[:PORT]/BUCKET", cfg.URL)
	}
	creds, err := cfg.credentials()
	if err != nil {
		return nil, fmt.Errorf("open blobs at %s: %w", cfg.URL, err)
	}
	region := cfg.Region
	if region == "" {
		region = "us-east-1"
	}
	s, err := newS3(s3Options{
		endpoint: u.Host, bucket: bucket, region: region,
		secure: u.Scheme == "https", virtualHost: cfg.VirtualHost, creds: creds,
	})
	if err != nil {
		return nil, fmt.Errorf("open blobs at %s: %w", cfg.URL, err)
	}
	return s, nil
}

func (cfg Config) credentials() (*credentials.Credentials, error) {
	secret := cfg.SecretKey
	if cfg.SecretFile != "" {
		if secret != "" {
			return nil, errors.New("secret key and secret key file are both set; keep one")
		}
		data, err := os.ReadFile(cfg.SecretFile)
		if err != nil {
			return nil, fmt.Errorf("read secret key file: %w", err)
		}
		if secret = strings.TrimSpace(string(data)); secret == "" {
			return nil, fmt.Errorf("secret key file %s is empty", cfg.SecretFile)
		}
	}
	switch {
	case cfg.AccessKey != "" && secret != "":
		return credentials.NewStaticV4(cfg.AccessKey, secret, ""), nil
	case cfg.AccessKey != "":
		return nil, errors.New("an access key is set but no secret key")
	case secret != "":
		return nil, errors.New("a secret key is set but no access key")
	}
	chain := credentials.NewChainCredentials([]credentials.Provider{
		&credentials.EnvAWS{}, &credentials.FileAWSCredentials{},
	})
	value, err := chain.GetWithContext(nil)
	if err != nil || value.AccessKeyID == "" {
		return nil, errors.New("no credentials: set access key and secret key, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or a profile in the AWS credentials file")
	}
	return chain, nil
}
