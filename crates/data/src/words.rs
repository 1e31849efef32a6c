//! Numbers as a person reads them: what notes, reports, pictures and command lines say alike.

/// A number with its thousands apart.
///
/// ```
/// assert_eq!(rosenblatt_data::words::count(1_234_567), "1,234,567");
/// ```
pub fn count(number: u64) -> String {
    let digits = number.to_string();
    let mut spaced = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            spaced.push(',');
        }
        spaced.push(digit);
    }
    spaced
}

/// `1 row`, `2 rows`.
pub fn counted(number: u64, one: &str, many: &str) -> String {
    format!("{} {}", count(number), if number == 1 { one } else { many })
}
