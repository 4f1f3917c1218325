package dispatcher

import "context"

// Collect is one round of it.
func (s *Service) Collect(ctx context.Context) error { return s.collect(ctx) }

// Prune is one round from the start.
func (s *Service) Prune(ctx context.Context) { s.prune(ctx, "") }
