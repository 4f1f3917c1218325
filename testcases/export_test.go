package testcases

// Unzipped is unzipped.
var Unzipped = unzipped
