//! Parquet files that are nothing but metadata, and places in those that other tools wrote.

#![allow(unreachable_pub, reason = "a module of a test")]

/// A Parquet file that is nothing but metadata, in Thrift's compact protocol.
pub struct Footer(Vec<u8>);

impl Footer {
    fn varint(&mut self, mut number: u64) {
        while number > 0x7F {
            self.0.push(number as u8 | 0x80);
            number >>= 7;
        }
        self.0.push(number as u8);
    }

    fn zigzag(&mut self, number: i64) {
        self.varint(((number << 1) ^ (number >> 63)).cast_unsigned());
    }

    /// Version 1, and a schema of `n_elements` in which `children` gives the children of each.
    pub fn new(n_elements: u64, children: impl Iterator<Item = i64>) -> Self {
        let mut footer = Self(vec![0x15, 2, 0x19, 0xFC]);
        footer.varint(n_elements);
        for n_children in children {
            // Field 3, repetition: optional; field 4, the name; field 5, the children.
            footer.0.extend([0x35, 2, 0x18, 1, b'x', 0x15]);
            footer.zigzag(n_children);
            footer.0.push(0);
        }
        footer
    }

    /// The file, of `n_rows` rows and no row groups.
    pub fn file(mut self, n_rows: i64) -> Vec<u8> {
        self.0.push(0x16);
        self.zigzag(n_rows);
        self.0.extend([0x19, 0x0C, 0]);
        let length = (self.0.len() as u32).to_le_bytes();
        [&b"PAR1"[..], &self.0, &length, b"PAR1"].concat()
    }
}

/// The same file, whose metadata claims to have `length` bytes.
pub fn with_footer_length(whole: &[u8], length: u32) -> Vec<u8> {
    let mut edited = whole.to_vec();
    let at = edited.len() - 8;
    edited[at..at + 4].copy_from_slice(&length.to_le_bytes());
    edited
}

/// Where the metadata of a column's first chunk says what.
pub struct Places {
    pub kind: usize,
    pub codec: usize,
    pub offset: usize,
}

/// Finds the first chunk of the column called `name`: its type, its encodings, the path with its name, its
/// codec, three sizes, the offset of its first page; each after the number of its field.
pub fn column(bytes: &[u8], name: &str) -> Places {
    let path = [&[0x19, 0x18, name.len() as u8], name.as_bytes(), &[0x15]].concat();
    let at = bytes.windows(path.len()).position(|window| window == path).unwrap();
    // Before the path: a list of encodings, one byte each, and before that the type.
    let n_encodings =
        (1..8).find(|n| bytes[at - n - 2] == 0x19 && usize::from(bytes[at - n - 1] >> 4) == *n).unwrap();
    let kind = at - n_encodings - 3;
    assert_eq!(bytes[kind - 1], 0x15);
    let codec = at + path.len();
    let mut offset = codec + 1;
    for _ in 0..3 {
        assert_eq!(bytes[offset], 0x16);
        offset += 1;
        while bytes[offset] > 0x7F {
            offset += 1;
        }
        offset += 1;
    }
    assert_eq!(bytes[offset], 0x26);
    Places { kind, codec, offset: offset + 1 }
}
