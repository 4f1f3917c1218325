// Package tools pins the programs that build and test judgefarm, in a module of
// their own so that their dependencies stay out of the product's.
package tools
