package dispatcher

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"time"

	"github.com/google/uuid"
)

// newID returns a UUIDv7: ids sort by the time they were made.
func newID() (string, error) {
	id, err := uuid.NewV7()
	if err != nil {
		return "", fmt.Errorf("make id: %w", err)
	}
	return id.String(), nil
}

// keyedID returns the id of the submission that an Idempotency-Key stands for: a
// UUIDv8 (RFC 9562: contents are ours) made from the key alone. So two
// dispatchers that get the same key at the same time try to create the same
// record, and results.Create lets one of them win; no index of keys is needed,
// and a key is forgotten when its record is. A generation is used up when its
// submission was refused after its record had been made.
func keyedID(tenant, key string, generation int) string {
	h := sha256.New()
	for _, s := range []string{"judgefarm idempotency 1", tenant, key} {
		h.Write(binary.BigEndian.AppendUint64(nil, uint64(len(s))))
		h.Write([]byte(s))
	}
	h.Write(binary.BigEndian.AppendUint64(nil, uint64(generation)))
	id := uuid.UUID(h.Sum(nil)[:16])
	id[6] = id[6]&0x0f | 0x80 // version 8
	id[8] = id[8]&0x3f | 0x80 // RFC 9562 variant
	return id.String()
}

// intentKey is the blob key of an admitted submission. That of a keyed one ends
// in the digest of the request: replays with another body are told from equal ones
// without reading it. It is another at each try, so that of two that come at the same
// time the one that makes no record neither changes what the other's record names (the
// problem may have got a version in between) nor brings back what was refused.
func intentKey(id, digest string, now time.Time) string {
	key := intentPrefix + now.UTC().Format(intentDay) + "/" + id
	if digest != "" {
		key += "." + rand.Text() + "." + digest
	}
	return key
}

const (
	intentPrefix = "intents/"
	intentDay    = "20060102"
)
