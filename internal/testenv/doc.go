// Package testenv starts real servers for tests, each on loopback with files in
// the test's own directory, and skips a test with a reason that starts with
// "missing:" where a server is not installed. It is for tests only.
package testenv
