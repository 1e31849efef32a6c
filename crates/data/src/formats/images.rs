//! Folders of pictures, a subfolder per class: PNG, JPEG and PNM (PGM, PPM, PBM). And one picture alone.
//!
//! A picture alone has no label: it can be labelled by a model, but not learned from.
//!
//! Every subfolder is a class and bears its name; folders within it belong to it. Pictures come sorted by
//! path, so the order never depends on the file system. All must have the size of the first unless a size
//! is asked for; they are grey unless colour is asked for, and pixels become 0 to 1. What a file is, its
//! content says. Hidden files are passed over; other files that are no pictures, and empty folders, are
//! noted in the schema. A link that leads back to a folder above it is an error. Sizes are checked before
//! anything is allocated, and a decoder that panics is an error that names the picture.

#[cfg(feature = "images")]
use super::matrix;
use super::{Format, FormatInfo, Head, Reader, Sniff};
#[cfg(feature = "images")]
use crate::bytes::panics;
use crate::bytes::source::{Input, Part};
#[cfg(feature = "images")]
use crate::bytes::tree::Tree;
use crate::bytes::tree::entries;
use crate::error::{DataError, ErrorKind};
use crate::options::LabelColumn;
#[cfg(feature = "images")]
use crate::options::OnBadRow;
use crate::options::ReadOptions;
#[cfg(feature = "images")]
use crate::rows::block::{Block, Stored};
#[cfg(feature = "images")]
use crate::rows::schema::{Layout, Picture, Precision, Schema};
#[cfg(feature = "images")]
use std::io::{BufRead, BufReader, Cursor, Seek};
use std::path::Path;

/// Extensions of files that are taken for pictures.
const EXTENSIONS: [&str; 7] = ["png", "jpg", "jpeg", "pgm", "ppm", "pbm", "pnm"];

/// How many folders and entries are looked at to recognise a folder of pictures.
const SNIFF_FOLDERS: usize = 20;
const SNIFF_FILES: usize = 50;

/// Folders of pictures.
#[derive(Debug)]
pub(crate) struct Images;

impl Format for Images {
    fn info(&self) -> FormatInfo {
        FormatInfo {
            aliases: &["pictures"],
            takes_folders: true,
            ..FormatInfo::new("images", "a folder per class of PNG, JPEG or PNM pictures")
        }
    }

    fn heeds(&self) -> &'static [&'static str] {
        &["size", "colour"]
    }

    fn sniff(&self, head: &Head<'_>) -> Sniff {
        let Part::Folder(folder) = head.part else { return Sniff::No };
        let folders = entries(folder).unwrap_or_default();
        let folders = folders.iter().filter(|path| path.is_dir()).take(SNIFF_FOLDERS);
        let mut files = folders.flat_map(|path| {
            let within = entries(path).unwrap_or_default();
            within.into_iter().take(SNIFF_FILES)
        });
        if files.any(|file| is_picture(&file)) { Sniff::Likely } else { Sniff::No }
    }

    fn open(&self, input: Input, how: &ReadOptions) -> Result<Box<dyn Reader>, DataError> {
        let Part::Folder(folder) = input.part() else {
            let message = "this is a file, expected a folder with a subfolder of pictures per class";
            return Err(DataError::new(ErrorKind::Format, message).in_source(input.name()));
        };
        #[cfg(feature = "images")]
        return Ok(match how.precision {
            Precision::Single => Box::new(ImageReader::<f32>::open(folder, how)?),
            Precision::Double => Box::new(ImageReader::<f64>::open(folder, how)?),
        });
        #[cfg(not(feature = "images"))]
        {
            let _ = (folder, how);
            Err(not_built(&input))
        }
    }
}

/// One picture.
#[derive(Debug)]
pub(crate) struct Lone;

impl Format for Lone {
    fn info(&self) -> FormatInfo {
        FormatInfo {
            aliases: &["png", "jpeg", "pnm"],
            extensions: &EXTENSIONS,
            ..FormatInfo::new("picture", "one PNG, JPEG or PNM picture, to be labelled")
        }
    }

    fn heeds(&self) -> &'static [&'static str] {
        &["size", "colour"]
    }

    fn sniff(&self, head: &Head<'_>) -> Sniff {
        if kind_of(head.bytes).is_some() { Sniff::Certain } else { Sniff::No }
    }

    fn open(&self, input: Input, how: &ReadOptions) -> Result<Box<dyn Reader>, DataError> {
        if how.label != LabelColumn::Absent && how.schema.is_none() {
            let kind = kind_of(input.head()).unwrap_or("picture");
            let message = format!("this is a {kind} image without a label, expected rows of data");
            return Err(DataError::new(ErrorKind::Format, message).in_source(input.name()).with_help(
                "to learn from pictures, put them into a folder per class and name the folder above",
            ));
        }
        #[cfg(feature = "images")]
        return Ok(match how.precision {
            Precision::Single => Box::new(ImageReader::<f32>::open_lone(input, how)?),
            Precision::Double => Box::new(ImageReader::<f64>::open_lone(input, how)?),
        });
        #[cfg(not(feature = "images"))]
        Err(not_built(&input))
    }
}

/// The kind of picture that begins with these bytes.
fn kind_of(head: &[u8]) -> Option<&'static str> {
    match head {
        [0x89, b'P', b'N', b'G', b'\r', b'\n', ..] => Some("PNG"),
        [0xFF, 0xD8, 0xFF, ..] => Some("JPEG"),
        [b'P', b'1'..=b'6', b'\n' | b'\r' | b' ', b'#' | b'0'..=b'9', ..] => Some("PNM"),
        _ => None,
    }
}

#[cfg(not(feature = "images"))]
fn not_built(input: &Input) -> DataError {
    DataError::not_built("pictures", "images", "make a table of the pixels").in_source(input.name())
}

fn is_picture(path: &Path) -> bool {
    let extension = path.extension().and_then(|extension| extension.to_str());
    extension.is_some_and(|extension| EXTENSIONS.iter().any(|known| extension.eq_ignore_ascii_case(known)))
}

/// How pictures are made into rows.
#[cfg(feature = "images")]
#[derive(Debug, Clone, Copy)]
struct Decoding {
    colour: bool,
    size: Option<(u32, u32)>,
    max_pixels: u64,
}

/// A decoded picture: its size, and its pixels one after the other.
#[cfg(feature = "images")]
struct Decoded {
    width: u32,
    height: u32,
    bytes: Vec<u8>,
}

#[cfg(feature = "images")]
impl Decoding {
    fn decode_file(self, path: &Path) -> Result<Decoded, DataError> {
        let name = path.display().to_string();
        let file =
            std::fs::File::open(path).map_err(|error| DataError::io("opening", error).in_source(&name))?;
        self.decode(BufReader::new(file), &name)
    }

    /// The picture that `content` holds; errors call it `name`.
    fn decode(self, content: impl BufRead + Seek, name: &str) -> Result<Decoded, DataError> {
        panics::catch(|| self.try_decode(content))
            .unwrap_or_else(|| {
                let message = "the picture is damaged: its decoder gave up (a bug worth reporting)";
                Err(DataError::new(ErrorKind::Format, message).with_help("mend it or take it away"))
            })
            .map_err(|error| error.in_source(name))
    }

    fn try_decode(self, content: impl BufRead + Seek) -> Result<Decoded, DataError> {
        use image::{DynamicImage, ImageDecoder as _, ImageFormat, ImageReader, Limits};
        let damaged = |error: image::ImageError| match error {
            image::ImageError::IoError(error) if error.kind() != std::io::ErrorKind::UnexpectedEof => {
                DataError::io("reading the picture", error)
            }
            image::ImageError::Limits(_) => self.too_large(),
            error => is_damaged(&error),
        };
        let mut reader = ImageReader::new(content)
            .with_guessed_format()
            .map_err(|error| DataError::io("reading", error))?;
        if !matches!(reader.format(), Some(ImageFormat::Png | ImageFormat::Jpeg | ImageFormat::Pnm)) {
            let message = "this is no picture, expected PNG, JPEG or PNM";
            return Err(DataError::new(ErrorKind::Format, message).with_help("mend it or take it away"));
        }
        if !cfg!(feature = "jpeg") && reader.format() == Some(ImageFormat::Jpeg) {
            return Err(DataError::not_built("JPEG", "jpeg", "convert the pictures to PNG"));
        }
        // Of a decoder's allocations only the largest are counted, so the pixels are checked as well.
        let most_bytes = self.max_pixels.saturating_mul(16).max(1 << 20);
        let picture = if reader.format() == Some(ImageFormat::Png) {
            self.decode_png(reader.into_inner(), most_bytes)?
        } else {
            let mut limits = Limits::default();
            limits.max_alloc = Some(most_bytes);
            reader.limits(limits);
            let decoder = reader.into_decoder().map_err(damaged)?;
            let (width, height) = decoder.dimensions();
            self.check_size(width, height)?;
            DynamicImage::from_decoder(decoder).map_err(damaged)?
        };
        let (width, height) = (picture.width(), picture.height());
        let picture = if self.colour {
            DynamicImage::ImageRgb8(picture.into_rgb8())
        } else {
            DynamicImage::ImageLuma8(picture.into_luma8())
        };
        let picture = match self.size {
            Some((wanted, high)) if (wanted, high) != (width, height) => {
                picture.resize_exact(wanted, high, image::imageops::FilterType::Triangle)
            }
            _ => picture,
        };
        Ok(Decoded { width: picture.width(), height: picture.height(), bytes: picture.into_bytes() })
    }

    /// The picture in a PNG file. Its colour profile and its texts are packed, say nothing of pixels, and are not even
    /// unpacked.
    fn decode_png(
        self,
        content: impl BufRead + Seek,
        most_bytes: u64,
    ) -> Result<image::DynamicImage, DataError> {
        use image::{DynamicImage, ImageBuffer};
        use png::{BitDepth, ColorType, Decoder, DecodingError, Limits, Transformations};
        let damaged = |error: DecodingError| match error {
            DecodingError::LimitsExceeded => self.too_large(),
            DecodingError::IoError(error) if error.kind() != std::io::ErrorKind::UnexpectedEof => {
                DataError::io("reading the picture", error)
            }
            error => is_damaged(&error),
        };
        let limits = Limits { bytes: usize::try_from(most_bytes).unwrap_or(usize::MAX) };
        let mut decoder = Decoder::new_with_limits(content, limits);
        decoder.set_ignore_iccp_chunk(true);
        decoder.set_ignore_text_chunk(true);
        decoder.set_transformations(Transformations::EXPAND);
        let info = decoder.read_header_info().map_err(damaged)?;
        let (width, height) = (info.width, info.height);
        self.check_size(width, height)?;
        let mut reader = decoder.read_info().map_err(damaged)?;
        let size = reader.output_buffer_size().ok_or_else(|| self.too_large())?;
        let mut bytes = vec![0; size];
        reader.next_frame(&mut bytes).map_err(damaged)?;
        let (colour, depth) = reader.output_color_type();
        let is_wide = depth == BitDepth::Sixteen;
        let wide: Vec<u16> = if is_wide {
            bytes.as_chunks().0.iter().map(|&pair| u16::from_be_bytes(pair)).collect()
        } else {
            Vec::new()
        };
        macro_rules! picture {
            ($narrow:ident, $wide:ident) => {
                if is_wide {
                    ImageBuffer::from_raw(width, height, wide).map(DynamicImage::$wide)
                } else {
                    ImageBuffer::from_raw(width, height, bytes).map(DynamicImage::$narrow)
                }
            };
        }
        let picture = match colour {
            ColorType::Grayscale => picture!(ImageLuma8, ImageLuma16),
            ColorType::GrayscaleAlpha => picture!(ImageLumaA8, ImageLumaA16),
            ColorType::Rgb => picture!(ImageRgb8, ImageRgb16),
            ColorType::Rgba => picture!(ImageRgba8, ImageRgba16),
            ColorType::Indexed => None,
        };
        picture.ok_or_else(|| is_damaged("its colours are of no known kind"))
    }

    fn check_size(self, width: u32, height: u32) -> Result<(), DataError> {
        if u64::from(width) * u64::from(height) > self.max_pixels {
            return Err(self.too_large());
        }
        if width == 0 || height == 0 {
            return Err(DataError::new(ErrorKind::Format, "the picture has no pixels, expected some"));
        }
        Ok(())
    }

    fn too_large(self) -> DataError {
        let message = format!("the picture has more than {} pixels, the limit", self.max_pixels);
        DataError::new(ErrorKind::Limit, message).with_help("raise the limit with {max-pixels}")
    }
}

#[cfg(feature = "images")]
fn is_damaged(why: impl std::fmt::Display) -> DataError {
    DataError::new(ErrorKind::Format, format!("the picture is damaged: {why}"))
        .with_help("mend it or take it away")
}

#[cfg(feature = "images")]
struct ImageReader<T> {
    found: Tree,
    decoding: Decoding,
    form: Picture,
    /// The first picture, which set the form.
    first: Option<Decoded>,
    schema: Schema,
    labelled: bool,
    on_bad_row: OnBadRow,
    n_rows: usize,
    /// What each byte becomes.
    table: Vec<T>,
    row: Vec<T>,
}

#[cfg(feature = "images")]
impl<T: Stored> ImageReader<T> {
    fn open(folder: &Path, how: &ReadOptions) -> Result<Self, DataError> {
        let name = folder.display().to_string();
        let found = Tree::look(folder, "pictures", is_picture)?;
        let Some((path, _)) = found.files.first() else {
            let message = "there are no pictures, expected a subfolder of PNG, JPEG or PNM files per class";
            return Err(DataError::new(ErrorKind::Empty, message).in_source(&name));
        };
        let path = path.clone();
        Self::start(found, &name, how, |decoding| decoding.decode_file(&path))
    }

    /// A reader of the one picture that is in `input`.
    fn open_lone(input: Input, how: &ReadOptions) -> Result<Self, DataError> {
        let name = input.name().to_string();
        let bytes = input.into_bytes(how.limits.held_bytes)?;
        let files = vec![(std::path::PathBuf::from(&name), 0)];
        let found = Tree::of(files, "?");
        let how = ReadOptions { label: LabelColumn::Absent, ..how.clone() };
        let mut reader =
            Self::start(found, &name, &how, |decoding| decoding.decode(Cursor::new(&bytes), &name))?;
        if reader.first.is_none() {
            reader.first = Some(reader.decoding.decode(Cursor::new(&bytes), &name)?);
        }
        Ok(reader)
    }

    /// A reader of what was found; `decode_first` decodes the first picture of it.
    fn start(
        found: Tree,
        name: &str,
        how: &ReadOptions,
        decode_first: impl FnOnce(Decoding) -> Result<Decoded, DataError>,
    ) -> Result<Self, DataError> {
        if let Some((0, _) | (_, 0)) = how.pictures.size {
            let message = "the size of pictures should be at least 1x1";
            return Err(DataError::new(ErrorKind::Options, message));
        }
        // What was learned from pictures of one form goes on with that form.
        let known = how.schema.as_ref().and_then(|schema| schema.picture);
        let resized =
            known.filter(|known| known.resized).map(|known| (known.width as u32, known.height as u32));
        let decoding = Decoding {
            colour: known.map_or(how.pictures.colour, |known| known.channels == 3),
            size: how.pictures.size.or(resized),
            max_pixels: how.limits.pixels,
        };
        if let Some((width, height)) = decoding.size
            && u64::from(width) * u64::from(height) > how.limits.pixels
        {
            return Err(decoding.too_large());
        }
        let mut first = None;
        let (width, height) = match (decoding.size, known) {
            (Some(size), _) => size,
            (None, Some(known)) => (known.width as u32, known.height as u32),
            (None, None) => {
                let decoded = decode_first(decoding)?;
                let size = (decoded.width, decoded.height);
                first = Some(decoded);
                size
            }
        };
        let channels = if decoding.colour { 3 } else { 1 };
        let (width, height, resized) = (width as usize, height as usize, decoding.size.is_some());
        let form = Picture { width, height, channels, resized };
        let mut schema = matrix::schema_of(width * height * channels, Layout::Dense, Some(form), how)
            .map_err(|error| error.in_source(name))?;
        schema.notes.extend(found.notes.iter().cloned());
        let scale = if how.pictures.unscaled { 1.0 } else { 255.0 };
        Ok(Self {
            found,
            decoding,
            form,
            first,
            schema,
            labelled: how.label != LabelColumn::Absent,
            on_bad_row: how.on_bad_row,
            n_rows: 0,
            table: (0..=255).filter_map(|byte: u8| T::narrow(f64::from(byte) / scale)).collect(),
            row: Vec::new(),
        })
    }

    /// The picture in `path`, which must have the size of all.
    fn picture(&mut self, path: &Path) -> Result<Decoded, DataError> {
        let decoded = match self.first.take() {
            Some(first) => first,
            None => self.decoding.decode_file(path)?,
        };
        let (width, height) = (self.form.width, self.form.height);
        if (decoded.width as usize, decoded.height as usize) != (width, height) {
            let message = format!(
                "the picture is {}x{} pixels, expected {width}x{height} as before",
                decoded.width, decoded.height
            );
            return Err(DataError::new(ErrorKind::Shape, message)
                .in_source(&path.display().to_string())
                .with_help(format!("resize all of them with {{size={width}x{height}}}")));
        }
        Ok(decoded)
    }
}

#[cfg(feature = "images")]
impl<T: Stored> Reader for ImageReader<T> {
    fn schema(&self) -> &Schema {
        &self.schema
    }

    fn read(&mut self, into: &mut Block) -> Result<bool, DataError> {
        let width = self.form.width * self.form.height * self.form.channels;
        into.clear(self.schema.layout, T::PRECISION, width);
        into.labelled = self.labelled;
        into.first_row = self.n_rows as u64;
        while into.len() < matrix::rows_per_block(width) {
            let Some((path, class)) = self.found.files.get(self.n_rows) else { break };
            let (path, class) = (path.clone(), *class);
            let decoded = match self.picture(&path) {
                Ok(decoded) => decoded,
                Err(error) if self.on_bad_row == OnBadRow::Skip => {
                    self.n_rows += 1;
                    into.skip_row(&error);
                    continue;
                }
                Err(error) => return Err(error),
            };
            self.n_rows += 1;
            self.row.clear();
            self.row.extend(decoded.bytes.iter().filter_map(|&byte| self.table.get(usize::from(byte))));
            let class_name = self.found.classes[class].as_bytes();
            let class = into.names.number(class_name).map_err(|bad| {
                DataError::new(ErrorKind::Label, bad.message(class_name))
                    .in_source(&path.display().to_string())
            })?;
            matrix::push_row(&mut into.matrix, &self.row);
            into.classes.push(if self.labelled { class } else { 0 });
        }
        Ok(!into.is_empty())
    }
}

#[cfg(all(test, feature = "images"))]
mod tests {
    use super::*;
    use crate::bytes::source::Source;
    use crate::load::{load, read_rows};
    use crate::options::Pictures;
    use std::fs;

    fn pgm(width: usize, height: usize, pixels: &[u8]) -> Vec<u8> {
        [format!("P5\n{width} {height}\n255\n").as_bytes(), pixels].concat()
    }

    fn tree(files: &[(&str, Vec<u8>)]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for (name, content) in files {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, content).unwrap();
        }
        folder
    }

    fn pair() -> Vec<(&'static str, Vec<u8>)> {
        vec![("b/2.pgm", pgm(2, 1, &[0, 255])), ("a/deep/1.PGM", pgm(2, 1, &[51, 0]))]
    }

    #[test]
    fn folders_are_classes_and_stray_files_are_noted() {
        let mut files = pair();
        files.push(("README", b"about".to_vec()));
        files.push(("a/.hidden", b"x".to_vec()));
        let folder = tree(&files);
        fs::create_dir(folder.path().join("empty")).unwrap();
        let how = ReadOptions { precision: Precision::Double, ..ReadOptions::as_stored() };
        let source = Source::find(folder.path()).unwrap();
        let rows = read_rows(&source, &how).unwrap();
        assert_eq!(rows[0], ("a".to_owned(), vec![(0, 0.2), (1, 0.0)]));
        assert_eq!(rows[1], ("b".to_owned(), vec![(0, 0.0), (1, 1.0)]));
        let stream = crate::blocks(&source, &how).unwrap();
        let notes = stream.schema().notes.join("; ");
        assert!(notes.contains("`empty` holds no pictures") && notes.contains("README"), "{notes}");
        assert_eq!(
            stream.schema().picture,
            Some(Picture { width: 2, height: 1, channels: 1, resized: false })
        );
    }

    #[test]
    fn every_bad_picture_is_named() {
        let png = |width: u32, height: u32| {
            // Signature, IHDR with a right checksum, and an IDAT without content.
            let mut chunk = b"IHDR".to_vec();
            chunk.extend([width.to_be_bytes(), height.to_be_bytes()].concat());
            chunk.extend([8, 0, 0, 0, 0]);
            let mut crc = flate2::Crc::new();
            crc.update(&chunk);
            [
                &b"\x89PNG\r\n\x1A\n\0\0\0\x0D"[..],
                &chunk,
                &crc.sum().to_be_bytes(),
                b"\0\0\0\0IDAT\x35\xAF\x06\x1E",
            ]
            .concat()
        };
        for (content, kind) in [
            (Vec::new(), "format"),
            (b"hello".to_vec(), "format"),
            (b"<svg xmlns=\"http://www.w3.org/2000/svg\"/>".to_vec(), "format"),
            (pgm(2, 1, &[0]), "format"),
            (b"P5\n2".to_vec(), "format"),
            (b"P5\n0 1\n255\n".to_vec(), "format"),
            (pgm(1, 1, &[0]), "shape"),
            (png(2, 1), "format"),
            (png(60_000, 60_000), "limit"),
            (png(0x7FFF_FFFF, 0x7FFF_FFFF), "limit"),
            (b"P5\n60000 60000\n255\n".to_vec(), "limit"),
            (b"P5\n4294967295 4294967295\n255\n".to_vec(), "limit"),
        ] {
            let mut files = pair();
            files.push(("b/3.png", content.clone()));
            let folder = tree(&files);
            let error = load(folder.path(), &ReadOptions::as_stored()).unwrap_err();
            assert!(error.source_name().unwrap().ends_with("3.png"), "{error}");
            assert_eq!(error.kind().code(), kind, "{error}");
            let skip = ReadOptions { on_bad_row: OnBadRow::Skip, ..ReadOptions::as_stored() };
            assert_eq!(load(folder.path(), &skip).unwrap().len(), 2);
        }
        let empty = tree(&[("a/x.txt", vec![]), ("b/y.txt", vec![])]);
        let how = ReadOptions { format: Some("images".into()), ..ReadOptions::as_stored() };
        assert_eq!(load(empty.path(), &how).unwrap_err().kind(), ErrorKind::Empty);
    }

    #[test]
    fn other_sizes_are_resized_on_request() {
        let mut files = pair();
        files.push(("b/3.pgm", pgm(4, 2, &[100; 8])));
        let folder = tree(&files);
        let error = load(folder.path(), &ReadOptions::as_stored()).unwrap_err();
        assert!(error.help().unwrap().to_string().contains("size = 2x1"), "{error}");
        let pictures = Pictures { size: Some((3, 3)), colour: true, unscaled: true };
        let how = ReadOptions { pictures, ..ReadOptions::as_stored() };
        let dataset = load(folder.path(), &how).unwrap();
        assert_eq!((dataset.len(), dataset.width()), (3, 27));
        let schema = crate::survey(&Source::find(folder.path()).unwrap(), &how).unwrap().schema;
        let again = ReadOptions::as_stored().with_schema(std::sync::Arc::new(schema));
        assert_eq!(load(folder.path(), &again).unwrap().width(), 27);
    }

    #[cfg(unix)]
    #[test]
    fn a_link_in_a_circle_is_left_out_and_one_to_nowhere_is_an_error() {
        let folder = tree(&pair());
        std::os::unix::fs::symlink(folder.path(), folder.path().join("b/loop")).unwrap();
        let whole = load(folder.path(), &ReadOptions::as_stored()).unwrap();
        fs::remove_file(folder.path().join("b/loop")).unwrap();
        assert_eq!(load(folder.path(), &ReadOptions::as_stored()).unwrap().len(), whole.len());
        std::os::unix::fs::symlink("nowhere", folder.path().join("b/gone.png")).unwrap();
        assert_eq!(load(folder.path(), &ReadOptions::as_stored()).unwrap_err().kind(), ErrorKind::Io);
    }
}
