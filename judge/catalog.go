package judge

import "time"

// LanguageInfo is a language as GET /v1/languages lists it.
type LanguageInfo struct {
	ID        string   `json:"id"`
	Name      string   `json:"name" doc:"such as C++17 (GCC)"`
	Aliases   []string `json:"aliases,omitempty" doc:"other ids it answers to"`
	Source    string   `json:"source,omitempty" doc:"default name of the main file"`
	Available bool     `json:"available" doc:"a worker has its toolchain"`
	Version   string   `json:"version,omitempty" doc:"as the compiler or interpreter tells it"`
	Toolchain string   `json:"toolchain,omitempty" doc:"sha256 over compiler or interpreter, packages and flags"`
	Missing   string   `json:"missing,omitempty" doc:"what is missing and what brings it, where not available"`
}

// ProblemInfo is one version of an uploaded problem as GET /v1/problems/{id} shows
// it. It tells nothing of the test data but how much there is.
type ProblemInfo struct {
	ID        string      `json:"id" doc:"the name that submissions use"`
	Version   int         `json:"version" doc:"counts from 1; each push of another package makes one"`
	Name      string      `json:"name" doc:"the title"`
	Digest    string      `json:"digest" doc:"sha256 over everything that can change a verdict"`
	Package   string      `json:"package" doc:"sha256 of the packed problem"`
	Limits    LimitsJSON  `json:"limits" doc:"as the problem states them"`
	Checker   CheckerSpec `json:"checker"`
	Cases     int         `json:"cases"`
	Samples   int         `json:"samples" doc:"how many of the cases may be shown to submitters"`
	UpdatedAt time.Time   `json:"updated_at" doc:"when the version was made"`
	// Quarantine is told of what a server shows; it is no part of a version.
	Quarantine *Quarantine `json:"quarantine,omitempty" doc:"why submissions to this version fail at once"`
}

// Quarantine is why a version of a problem is not judged with for now.
type Quarantine struct {
	Reason   string    `json:"reason"`
	Failures int       `json:"failures" doc:"submissions in a row for which its checker or interactor failed"`
	Worker   string    `json:"worker" doc:"which saw them"`
	At       time.Time `json:"at"`
}

// ProblemVersions is everything that a problem's name pointed to and is kept.
type ProblemVersions struct {
	ID       string        `json:"id"`
	Current  int           `json:"current" doc:"the version that submissions are judged against"`
	Revision int64         `json:"revision" doc:"rises with each change of the name"`
	Versions []ProblemInfo `json:"versions" doc:"the newest first"`
}
