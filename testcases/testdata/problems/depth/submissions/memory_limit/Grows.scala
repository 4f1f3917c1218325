object Grows extends App {
  val kept = collection.mutable.ArrayBuffer[Array[Int]]()
  while (true) kept += new Array[Int](100000)
}
