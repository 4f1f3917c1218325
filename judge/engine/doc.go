// Package engine judges one submission: it compiles once, runs every case in a
// box of its own, lets a checker rule, and gives the verdict. The local command,
// the all-in-one server and the farm's workers use the same engine. It knows
// nothing of queues, leases or storage.
package engine
