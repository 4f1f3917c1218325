use std::io::{self, Read};

fn main() {
    let mut text = String::new();
    io::stdin().read_to_string(&mut text).unwrap();
    let x: Vec<f64> = text.split_whitespace().skip(1).map(|w| w.parse().unwrap()).collect();
    let n = x.len() as f64;
    let mean = x.iter().sum::<f64>() / n;
    let square = x.iter().map(|v| (v - mean) * (v - mean)).sum::<f64>() / n;
    println!("{} {}", mean, square.sqrt());
}
