package judge

import "time"

// WorkerInfo is what a worker tells the farm of itself, again and again while it
// lives: the blob workers/<name>.json.
type WorkerInfo struct {
	Name      string         `json:"name"`
	Slots     int            `json:"slots"`
	Languages []LanguageInfo `json:"languages"`
	At        time.Time      `json:"at"`
}

// WorkerPrefix starts the keys of WorkerInfo blobs.
const WorkerPrefix = "workers/"
