// Package judge holds the words that all of judgefarm uses: submissions,
// judgements, runs, verdicts, limits and usage. It imports the standard library
// only and does nothing by itself: running programs is judge/sandbox, ruling on
// them is judge/engine.
package judge
