object Add extends App {
  println(io.Source.stdin.getLines.mkString(" ").trim.split("\\s+").map(_.toLong).sum)
}
