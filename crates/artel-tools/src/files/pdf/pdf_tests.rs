//! Small documents, written out in the tests.

use miniz_oxide::deflate::compress_to_vec_zlib;
use proptest::prelude::*;

use super::*;

fn stream(dict: &str, data: &[u8]) -> Vec<u8> {
    let mut bytes = format!("<< {dict} /Length {} >>\nstream\n", data.len()).into_bytes();
    bytes.extend(data);
    bytes.extend(b"\nendstream");
    bytes
}

fn document(objects: &[Vec<u8>]) -> Vec<u8> {
    let mut bytes = b"%PDF-1.7\n".to_vec();
    for (number, object) in objects.iter().enumerate() {
        bytes.extend(format!("{} 0 obj\n", number + 1).bytes());
        bytes.extend(object);
        bytes.extend(b"\nendobj\n");
    }
    bytes.extend(b"trailer << /Root 1 0 R >>\n%%EOF");
    bytes
}

fn two_pages(content: &[u8], font: &[u8], table: Vec<u8>) -> Vec<u8> {
    let packed = compress_to_vec_zlib(content, 6);
    document(&[
        b"<< /Type /Catalog /Pages 2 0 R >>".to_vec(),
        b"<< /Type /Pages /Kids [3 0 R 4 0 R] /Count 2 /Resources << /Font << /F1 5 0 R >> >> >>"
            .to_vec(),
        b"<< /Type /Page /Parent 2 0 R /Contents 6 0 R >>".to_vec(),
        b"<< /Type /Page /Parent 2 0 R /Contents [7 0 R] >>".to_vec(),
        font.to_vec(),
        stream("/Filter /FlateDecode", &packed),
        stream("", b"BT /F1 12 Tf (second) Tj ET"),
        table,
    ])
}

const FONT: &[u8] = b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>";

#[test]
fn lines_words_and_pages_are_told_apart() {
    let content = b"BT /F1 12 Tf 72 700 Td (Hello \\(w\\366rld\\)) Tj 0 -14 Td [(T) 80 (wo) -300 (words)] TJ \
        T* ET BT /F1 12 Tf 1 0 0 1 72 600 Tm (after a gap) Tj 1 0 0 1 300 600 Tm <72696768742E> Tj ET";
    let document = text(&two_pages(content, FONT, Vec::new())).unwrap();
    assert_eq!((document.pages, document.unreadable), (2, 0));
    insta::assert_snapshot!(document.text, @r"
    --- page 1 ---
    Hello (wörld)
    Two words

    after a gap right.
    --- page 2 ---
    second
    ");
}

#[test]
fn tables_and_names_give_characters() {
    let table = stream(
        "",
        b"begincmap 1 begincodespacerange <0000> <FFFF> endcodespacerange \
        1 beginbfchar <0003> <00660069> endbfchar 2 beginbfrange <0010> <0012> <0061> \
        <0020> <0021> [<4E2D> <6587>] endbfrange endcmap",
    );
    let font = b"<< /Type /Font /Subtype /Type0 /Encoding /Identity-H /ToUnicode 8 0 R >>";
    let content = b"BT /F1 12 Tf <000300100011001200200021> Tj ET";
    let document = text(&two_pages(content, font, table)).unwrap();
    assert!(document.text.contains("fiabc中文"), "{}", document.text);

    let font =
        b"<< /Type /Font /Subtype /Type1 /Encoding << /Differences [1 /fi /uni20AC /A] >> >>";
    let document = text(&two_pages(
        b"BT /F1 9 Tf (\\001\\002\\003\\344) Tj ET",
        font,
        Vec::new(),
    ));
    assert!(document.unwrap().text.contains("fi€Aä"));
}

#[test]
fn packed_objects_are_found() {
    let inner = b"1 0 2 33 << /Type /Catalog /Pages 2 0 R >>  << /Type /Pages /Kids [3 0 R] >>";
    let packed = compress_to_vec_zlib(inner, 6);
    let mut bytes = b"%PDF-1.7\n9 0 obj\n".to_vec();
    bytes.extend(stream(
        "/Type /ObjStm /N 2 /First 9 /Filter /FlateDecode",
        &packed,
    ));
    bytes.extend(b"\nendobj 3 0 obj << /Type /Page /Contents 4 0 R >> endobj 4 0 obj ");
    bytes.extend(stream("", b"BT (plain) Tj ET"));
    let document = text(&bytes).unwrap();
    assert_eq!(document.text, "--- page 1 ---\nplain\n");
}

#[test]
fn what_cannot_be_read_is_said() {
    assert_eq!(
        text(b"%PDF-1.4 nothing").unwrap_err(),
        "no pages were found in it"
    );
    let mut locked = two_pages(b"", FONT, Vec::new());
    locked.extend(b"trailer << /Encrypt 9 0 R >>");
    assert_eq!(text(&locked).unwrap_err(), "it is encrypted");
    let scanned = document(&[
        b"<< /Type /Catalog /Pages 2 0 R >>".to_vec(),
        b"<< /Type /Pages /Kids [3 0 R 2 0 R] >>".to_vec(),
        b"<< /Type /Page /Contents 4 0 R >>".to_vec(),
        stream("", b"q 1 0 0 1 0 0 cm /Im0 Do Q"),
    ]);
    assert!(text(&scanned).unwrap_err().contains("may be scanned"));
}

#[test]
fn a_bomb_is_unpacked_only_so_far() {
    let bomb = compress_to_vec_zlib(&vec![b' '; 4 * 1024 * 1024], 9);
    let mut objects = vec![
        b"<< /Type /Catalog /Pages 2 0 R >>".to_vec(),
        b"<< /Type /Pages /Kids [3 0 R] >>".to_vec(),
        format!("<< /Type /Page /Contents [{}] >>", "4 0 R ".repeat(200)).into_bytes(),
    ];
    objects.push(stream("/Filter /FlateDecode", &bomb));
    let bytes = document(&objects);
    let mut file = PdfFile::read(&bytes);
    let page = file.pages().remove(0);
    content::page_text(&mut file, &page);
    assert_eq!(file.left, 0);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn damaged_documents_do_no_harm(at in 0_usize..900, bytes in prop::collection::vec(any::<u8>(), 1..30)) {
        let mut document = two_pages(b"BT /F1 12 Tf (text) Tj ET", FONT, Vec::new());
        let at = at.min(document.len());
        let end = (at + bytes.len()).min(document.len());
        document.splice(at..end, bytes);
        drop(text(&document));
    }

    #[test]
    fn any_bytes_do_no_harm(text_ in "(obj|1 0 |<<|>>|\\[|\\]|/Type|/Page|/Kids|stream|endstream|\\(|\\)|[a-z0-9 \n]){0,60}") {
        drop(text(format!("%PDF-{text_}").as_bytes()));
    }
}
