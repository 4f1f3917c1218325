import std/[sequtils, strutils]

echo stdin.readAll.splitWhitespace.map(parseBiggestInt).foldl(a + b)
