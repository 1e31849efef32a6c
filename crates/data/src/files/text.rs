//! Texts that a person wrote, read whole: templates, certificates, tokens, keys.

use super::{FileError, failed};
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// The most bytes of one. A pipe need not end.
const MOST_BYTES: u64 = 256 << 20;

/// All of the text at `path`. What has no end, such as a device of zeros, is given up at the first byte that no text
/// holds.
pub fn read_text(path: &Path) -> Result<String, FileError> {
    let text = File::open(path).and_then(read);
    text.map_err(|source| failed(path, "it cannot be read", source))
}

fn read(file: File) -> io::Result<String> {
    let no_text = |what: &str| io::Error::new(io::ErrorKind::InvalidData, what.to_owned());
    let mut file = file.take(MOST_BYTES + 1);
    let mut bytes = Vec::new();
    loop {
        let known = bytes.len();
        if (&mut file).take(64 << 10).read_to_end(&mut bytes)? == 0 {
            break;
        }
        if bytes[known..].contains(&0) {
            return Err(no_text("this is no text: it holds a zero byte"));
        }
    }
    if bytes.len() as u64 > MOST_BYTES {
        return Err(no_text("it is longer than 256 MiB"));
    }
    String::from_utf8(bytes).map_err(|_| no_text("this is no text in UTF-8"))
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_read_and_a_device_without_end_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t");
        std::fs::write(&path, "U00:%x[0,0]\n").unwrap();
        assert_eq!(read_text(&path).unwrap(), "U00:%x[0,0]\n");
        for device in ["/dev/zero", "/dev/urandom"] {
            let refused = read_text(Path::new(device)).unwrap_err().to_string();
            assert!(refused.starts_with(device) && refused.contains("no text"), "{refused}");
        }
        assert_eq!(read_text(Path::new("/dev/null")).unwrap(), "");
    }
}
