//! As much of the protobuf wire format as ONNX needs, for writing.
//!
//! A message is a list of fields; a field is a key (`number << 3 | type`) and a value. Only two types occur
//! here: numbers as varints (0) and anything with a length (2).

/// A message being written.
#[derive(Debug, Default)]
pub(super) struct Message {
    bytes: Vec<u8>,
}

impl Message {
    /// A number.
    pub(super) fn number(mut self, field: u64, value: i64) -> Self {
        self.varint(field << 3);
        // Negative numbers take all ten bytes, as the format has it.
        self.varint(value as u64);
        self
    }

    /// A length or a count.
    pub(super) fn size(mut self, field: u64, value: usize) -> Self {
        self.varint(field << 3);
        self.varint(value as u64);
        self
    }

    /// Bytes with their length before them: text, packed arrays or other messages.
    pub(super) fn bytes(mut self, field: u64, value: &[u8]) -> Self {
        self.varint(field << 3 | 2);
        self.varint(value.len() as u64);
        self.bytes.extend(value);
        self
    }

    /// Text.
    pub(super) fn text(self, field: u64, value: &str) -> Self {
        self.bytes(field, value.as_bytes())
    }

    /// A message within this one.
    pub(super) fn message(self, field: u64, value: &Self) -> Self {
        self.bytes(field, &value.bytes)
    }

    /// What was written.
    pub(super) fn finish(self) -> Vec<u8> {
        self.bytes
    }

    fn varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.bytes.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.bytes.push(value as u8);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_examples_of_the_specification() {
        assert_eq!(Message::default().number(1, 150).finish(), [0x08, 0x96, 0x01]);
        let text = Message::default().text(2, "testing").finish();
        assert_eq!(text, [0x12, 0x07, 0x74, 0x65, 0x73, 0x74, 0x69, 0x6e, 0x67]);
        assert_eq!(Message::default().number(1, -1).finish().len(), 11);
    }
}
