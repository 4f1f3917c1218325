use std::io;

fn main() {
    let mut line = String::new();
    io::stdin().read_line(&mut line).unwrap();
    let n: usize = line.trim().parse().unwrap();
    if n == 2 || n == 3 {
        println!("none");
        return;
    }
    for i in (2..=n).step_by(2).chain((1..=n).step_by(2)) {
        print!("{} ", i);
    }
    println!();
}
