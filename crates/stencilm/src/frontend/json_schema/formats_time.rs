//! Formats of dates and times: RFC 3339.

/// RFC 3339 section 5.6, `full-date`, with the days of the months and leap years.
pub(crate) const DATE: &str = "[0-9]{4}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12][0-9]|3[01])\
    |(?:0[469]|11)-(?:0[1-9]|[12][0-9]|30)|02-(?:0[1-9]|1[0-9]|2[0-8]))\
    |(?:[0-9]{2}(?:0[48]|[2468][048]|[13579][26])|(?:[02468][048]|[13579][26])00)-02-29";

const HOUR: &str = "(?:[01][0-9]|2[0-3])";
const SIXTY: &str = "[0-5][0-9]";
const FRACTION: &str = "(?:\\.[0-9]+)?";

/// Section 5.6, `full-time`. A leap second is 23:59:60 in UTC, which here is told of offsets of
/// whole and of half hours: to add up any two of them takes 2,879 alternatives.
pub(crate) fn time() -> String {
    let halves = (0..24).flat_map(|hour| [west(hour, 30), east(hour, 30)]);
    let wholes = (1..24).flat_map(|hour| [west(hour, 0), east(hour, 0)]);
    let leaps = wholes.chain(halves).collect::<Vec<String>>().join("|");
    format!("(?:{}|{}|{leaps})", ordinary_time(), leap())
}

/// Section 5.6, `date-time`. Leap seconds come at the end of June or December, in UTC (appendix
/// D); east of it, that is the next day. The offsets are the whole hours that are in use.
pub(crate) fn date_time() -> String {
    let west = (1..=12).map(|hour| west(hour, 0)).collect::<Vec<String>>().join("|");
    let east = (1..=14).map(|hour| east(hour, 0)).collect::<Vec<String>>().join("|");
    let last = format!("[0-9]{{4}}-(?:06-30|12-31)[Tt](?:{}|{west})", leap());
    let next = format!("[0-9]{{4}}-(?:07-01|01-01)[Tt](?:{east})");
    format!("(?:(?:{DATE})[Tt]{}|{last}|{next})", ordinary_time())
}

/// A leap second may come with every offset that is not zero.
pub(crate) fn wider_time() -> String {
    format!("(?:{}|{}|{})", ordinary_time(), leap(), any_leap())
}

/// And at the end of every day.
pub(crate) fn wider_date_time() -> String {
    format!("(?:{DATE})[Tt]{}", wider_time())
}

fn any_leap() -> String {
    format!("{HOUR}:{SIXTY}:60{FRACTION}[+\\-]{HOUR}:{SIXTY}")
}

/// A leap second with an offset below zero: hours and minutes add up to 23:59.
fn west(hour: u32, minute: u32) -> String {
    format!("{:02}:{:02}:60{FRACTION}-{hour:02}:{minute:02}", 23 - hour, 59 - minute)
}

/// A leap second with an offset above zero: a minute less than that.
fn east(hour: u32, minute: u32) -> String {
    let before = hour * 60 + minute - 1;
    format!("{:02}:{:02}:60{FRACTION}\\+{hour:02}:{minute:02}", before / 60, before % 60)
}

fn ordinary_time() -> String {
    format!("{HOUR}:{SIXTY}:{SIXTY}{FRACTION}(?:[Zz]|[+\\-]{HOUR}:{SIXTY})")
}

fn leap() -> String {
    format!("23:59:60{FRACTION}(?:[Zz]|[+\\-]00:00)")
}

/// RFC 3339 appendix A.
pub(crate) fn duration() -> String {
    let time = "T(?:[0-9]+H(?:[0-9]+M(?:[0-9]+S)?)?|[0-9]+M(?:[0-9]+S)?|[0-9]+S)";
    let date = "(?:[0-9]+D|[0-9]+M(?:[0-9]+D)?|[0-9]+Y(?:[0-9]+M(?:[0-9]+D)?)?)";
    format!("P(?:{date}(?:{time})?|{time}|[0-9]+W)")
}
