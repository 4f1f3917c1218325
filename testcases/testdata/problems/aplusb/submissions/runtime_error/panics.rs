fn main() {
    let none: Vec<i32> = Vec::new();
    println!("{}", none[std::env::args().count()]);
}
