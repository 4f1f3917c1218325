package blob

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"sort"
	"strings"
	"sync"
)

// ErrFull is wrapped by Memory's Put when the object does not fit.
var ErrFull = errors.New("blob memory is full")

// Memory is a Store that forgets everything when the process ends: for tests and
// for trying things out.
type Memory struct {
	max int64

	mu      sync.RWMutex
	objects map[string][]byte
	used    int64
}

// NewMemory returns an empty store that holds up to max bytes; 0 means 1 GiB.
func NewMemory(max int64) *Memory {
	if max == 0 {
		max = 1 << 30
	}
	return &Memory{max: max, objects: map[string][]byte{}}
}

// Put implements Store.
func (m *Memory) Put(ctx context.Context, key string, r io.Reader, size int64, _ string) error {
	if err := CheckKey(key); err != nil {
		return err
	}
	if size < 0 || size > m.max {
		return fmt.Errorf("put %s of %d bytes: %w", key, size, ErrFull)
	}
	data, err := io.ReadAll(newExact(ctx, r, size))
	if err != nil {
		return fmt.Errorf("put %s: %w", key, err)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.used-int64(len(m.objects[key]))+size > m.max {
		return fmt.Errorf("put %s of %d bytes: %w", key, size, ErrFull)
	}
	m.used += size - int64(len(m.objects[key]))
	m.objects[key] = data
	return nil
}

// Get implements Store.
func (m *Memory) Get(ctx context.Context, key string) (io.ReadCloser, int64, error) {
	data, err := m.find(ctx, key)
	if err != nil {
		return nil, 0, fmt.Errorf("get %s: %w", key, err)
	}
	return io.NopCloser(bytes.NewReader(data)), int64(len(data)), nil
}

// Stat implements Store.
func (m *Memory) Stat(ctx context.Context, key string) (int64, error) {
	data, err := m.find(ctx, key)
	if err != nil {
		return 0, fmt.Errorf("stat %s: %w", key, err)
	}
	return int64(len(data)), nil
}

func (m *Memory) find(ctx context.Context, key string) ([]byte, error) {
	if err := CheckKey(key); err != nil {
		return nil, err
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	m.mu.RLock()
	defer m.mu.RUnlock()
	data, ok := m.objects[key]
	if !ok {
		return nil, ErrNotFound
	}
	return data, nil
}

// List implements Store.
func (m *Memory) List(ctx context.Context, prefix, after string, max int) ([]string, error) {
	if err := checkPrefix(prefix); err != nil {
		return nil, err
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	m.mu.RLock()
	defer m.mu.RUnlock()
	var keys []string
	for key := range m.objects {
		if strings.HasPrefix(key, prefix) && key > after {
			keys = append(keys, key)
		}
	}
	sort.Strings(keys)
	return keys[:min(len(keys), max)], nil
}

// Delete implements Store.
func (m *Memory) Delete(ctx context.Context, key string) error {
	if err := CheckKey(key); err != nil {
		return err
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.used -= int64(len(m.objects[key]))
	delete(m.objects, key)
	return nil
}

// Ready implements Store.
func (m *Memory) Ready(ctx context.Context) error { return context.Cause(ctx) }
