use std::io::{self, Read};

fn main() {
    let mut text = String::new();
    io::stdin().read_to_string(&mut text).unwrap();
    let sum: i64 = text.split_whitespace().map(|w| w.parse::<i64>().unwrap()).sum();
    println!("{}", sum);
}
