package queue

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// ServerCPU is the CPU time, user and system, that the Redis server says it has used
// since its start. The embedded one does not tell: it is a part of this process.
func (q *Queue) ServerCPU(ctx context.Context) (time.Duration, error) {
	ctx, cancel := context.WithTimeout(ctx, opTimeout)
	defer cancel()
	text, err := q.client.Info(ctx, "cpu").Result()
	if err != nil {
		return 0, fmt.Errorf("read CPU time of redis: %w", err)
	}
	var total time.Duration
	found := 0
	for line := range strings.Lines(text) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), ":")
		if name != "used_cpu_sys" && name != "used_cpu_user" {
			continue
		}
		seconds, err := strconv.ParseFloat(value, 64)
		if err != nil {
			return 0, fmt.Errorf("read CPU time of redis: %w", err)
		}
		total += time.Duration(seconds * float64(time.Second))
		found++
	}
	if found != 2 {
		return 0, fmt.Errorf("read CPU time of redis: INFO cpu tells %d of 2 figures", found)
	}
	return total, nil
}
