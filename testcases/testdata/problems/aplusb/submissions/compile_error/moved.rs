fn main() {
    let a = String::from("1");
    let b = a;
    println!("{}{}", a, b);
}
