//! Automata over bytes become automata over characters, which have far fewer states: those inside
//! of characters go.

use rustc_hash::FxHashMap;

use crate::grammar::{ByteSet, CharSet};

/// Ways from one state to another, with the characters that take them.
pub(crate) type Ways = Vec<(usize, usize, CharSet)>;

/// Where the rest of a character leads, and which code points, counted from where it began.
type Ends = Vec<(usize, Vec<(u32, u32)>)>;

/// The ways by whole characters between states of `edges`, from state 0 on, where a character
/// begins.
pub(crate) fn by_characters(count: usize, edges: &[(usize, usize, ByteSet)]) -> Ways {
    let mut out: Vec<Vec<(usize, &ByteSet)>> = vec![Vec::new(); count];
    for (from, to, bytes) in edges {
        out[*from].push((*to, bytes));
    }
    let mut reader = Reader { out, known: FxHashMap::default() };
    let mut ways = Ways::new();
    let mut seen = vec![false; count];
    let mut todo = vec![0];
    seen[0] = true;
    while let Some(from) = todo.pop() {
        for (to, ranges) in reader.characters(from) {
            ways.push((from, to, CharSet::from_code_points(ranges)));
            if !std::mem::replace(&mut seen[to], true) {
                todo.push(to);
            }
        }
    }
    ways
}

#[derive(Debug)]
struct Reader<'a> {
    out: Vec<Vec<(usize, &'a ByteSet)>>,
    /// By state, and how many bytes are left.
    known: FxHashMap<(usize, u32), Ends>,
}

impl Reader<'_> {
    fn characters(&mut self, from: usize) -> Ends {
        let mut ends = Ends::new();
        for (to, bytes) in self.out[from].clone() {
            for byte in bytes.iter() {
                // RFC 3629, 3: the first byte says how many follow.
                let (bits, left) = match byte {
                    0xC0..=0xDF => (byte & 0x1F, 1),
                    0xE0..=0xEF => (byte & 0x0F, 2),
                    0xF0.. => (byte & 0x07, 3),
                    _ => (byte, 0),
                };
                self.add(&mut ends, to, bits, left);
            }
        }
        ends
    }

    /// Adds where a byte leads that has these bits of a character.
    fn add(&mut self, ends: &mut Ends, to: usize, bits: u8, left: u32) {
        let low = u32::from(bits) << (6 * left);
        if left == 0 {
            join(ends, to, (low, low));
            return;
        }
        for (to, ranges) in self.rest(to, left) {
            for (first, last) in ranges {
                join(ends, to, (low + first, low + last));
            }
        }
    }

    fn rest(&mut self, from: usize, left: u32) -> Ends {
        if let Some(known) = self.known.get(&(from, left)) {
            return known.clone();
        }
        let mut ends = Ends::new();
        for (to, bytes) in self.out[from].clone() {
            for byte in bytes.iter() {
                self.add(&mut ends, to, byte & 0x3F, left - 1);
            }
        }
        self.known.insert((from, left), ends.clone());
        ends
    }
}

fn join(ends: &mut Ends, to: usize, range: (u32, u32)) {
    let place = ends.iter().position(|it| it.0 == to).unwrap_or_else(|| {
        ends.push((to, Vec::new()));
        ends.len() - 1
    });
    match ends[place].1.last_mut() {
        Some(last) if last.1 + 1 == range.0 => last.1 = range.1,
        _ => ends[place].1.push(range),
    }
}
