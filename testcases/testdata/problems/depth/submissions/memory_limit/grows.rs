fn main() {
    let mut blocks: Vec<Vec<u8>> = Vec::new();
    loop {
        blocks.push(vec![1; 1 << 20]);
        if blocks.len() == usize::MAX {
            println!("{}", blocks[7][7]);
        }
    }
}
