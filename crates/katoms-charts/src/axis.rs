//! From values to places: the range of an axis and its ticks.

use crate::number;

/// One axis.
#[derive(Debug, Clone, PartialEq)]
pub struct Axis {
    title: String,
    low: f64,
    high: f64,
    kind: Kind,
    inner: (f64, f64),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Linear,
    Integers,
    Log,
    /// By the square root: zero has its place, and large values do not hide small ones.
    Root,
    Percent,
}

impl Axis {
    /// Around some values, with a little room. `None` when there is none, or their range has no size that a machine
    /// can hold.
    pub fn linear(title: &str, values: impl IntoIterator<Item = f64>) -> Option<Self> {
        let (low, high) = range(values)?;
        let room = if high > low { (high - low) * 0.04 } else { low.abs() * 0.05 };
        let room = if room > 0.0 { room } else { 1.0 };
        Self::between(title, low - room, high + room, Kind::Linear)
    }

    /// Exactly from one value to another.
    pub fn spanning(title: &str, low: f64, high: f64) -> Option<Self> {
        Self::between(title, low, high, Kind::Linear)
    }

    /// Exactly from one positive value to another, by their logarithm.
    pub fn log_spanning(title: &str, low: f64, high: f64) -> Option<Self> {
        // The logarithm of what is not positive is no number or no finite one.
        Self::between(title, low.log10(), high.log10(), Kind::Log)
    }

    /// With nothing to show: from 0 to 1.
    pub fn bare(title: &str) -> Self {
        Self { title: title.into(), low: 0.0, high: 1.0, kind: Kind::Linear, inner: (0.0, 1.0) }
    }

    /// With nothing to show: from 1 to 10 by the logarithm.
    pub fn bare_log(title: &str) -> Self {
        Self { kind: Kind::Log, ..Self::bare(title) }
    }

    /// Shares, 0 to 1.
    pub fn shares(title: &str) -> Option<Self> {
        Self::between(title, 0.0, 1.0, Kind::Percent)
    }

    /// Around whole numbers: ticks at whole numbers only.
    pub fn integers(title: &str, values: impl IntoIterator<Item = f64>) -> Option<Self> {
        let (low, high) = range(values)?;
        let room = if high > low { (high - low) * 0.03 } else { 1.0 };
        let axis = Self::between(title, low - room, high + room, Kind::Integers)?;
        Some(Self { inner: (low, high), ..axis })
    }

    /// Around the positive ones of some values, by their logarithm.
    pub fn log(title: &str, values: impl IntoIterator<Item = f64>) -> Option<Self> {
        let (low, high) = range(values.into_iter().filter(|&v| v > 0.0))?;
        let room = ((high.log10() - low.log10()) * 0.05).max(0.05);
        let (low, high) = (low.log10() - room, high.log10() + room);
        Self::between(title, low, high, Kind::Log)
    }

    /// From 0 to differences that may be large; by their square root where they are, and the title says so.
    pub fn differences(title: &str, values: impl IntoIterator<Item = f64>) -> Option<Self> {
        let (_, high) = range(values)?;
        if high <= 20.0 {
            return Self::linear(title, [0.0, high]);
        }
        let high = high.sqrt();
        Self::between(&format!("{title} (square-root scale)"), -0.02 * high, 1.04 * high, Kind::Root)
    }

    /// Around some values: by their logarithm where all are positive and the largest is more than twenty times the smallest,
    /// which would leave the small ones no room.
    pub fn log_where_wide(title: &str, values: &[f64]) -> Option<Self> {
        let (low, high) = range(values.iter().copied())?;
        if low > 0.0 && high / low > 20.0 {
            return Self::log(&format!("{title} (logarithmic scale)"), values.iter().copied());
        }
        Self::linear(title, values.iter().copied())
    }

    fn between(title: &str, low: f64, high: f64, kind: Kind) -> Option<Self> {
        let sound = high > low && (high - low).is_finite();
        sound.then(|| Self { title: title.into(), low, high, kind, inner: (low, high) })
    }

    /// 0 at the low end, 1 at the high one.
    pub fn place(&self, value: f64) -> f64 {
        let value = match self.kind {
            Kind::Log => value.log10(),
            Kind::Root => value.max(0.0).sqrt(),
            _ => value,
        };
        (value - self.low) / (self.high - self.low)
    }

    /// The lowest value.
    pub fn low(&self) -> f64 {
        self.value(self.low)
    }

    /// The highest value.
    pub fn high(&self) -> f64 {
        self.value(self.high)
    }

    fn value(&self, place: f64) -> f64 {
        match self.kind {
            Kind::Log => 10_f64.powf(place),
            Kind::Root => place.max(0.0).powi(2),
            _ => place,
        }
    }

    /// What the axis shows, with the power of ten that its ticks leave out.
    pub fn heading(&self) -> String {
        match self.power() {
            0 => self.title.clone(),
            power => format!("{}, × {}", self.title, raised(power)),
        }
    }

    fn power(&self) -> i32 {
        let size = self.low.abs().max(self.high.abs()).log10().floor() as i32;
        let plain = matches!(self.kind, Kind::Log | Kind::Root | Kind::Percent) || (-3..6).contains(&size);
        if plain { 0 } else { size.div_euclid(3) * 3 }
    }

    /// About so many ticks: where, and what stands there.
    pub fn ticks(&self, about: usize) -> Vec<(f64, String)> {
        let about = about.max(2) as f64;
        match self.kind {
            Kind::Log => self.log_ticks(about),
            Kind::Root => self.root_ticks(about),
            Kind::Linear => self.even_ticks(nice_step((self.high - self.low) / about)),
            Kind::Integers => self.even_ticks(nice_step((self.high - self.low) / about).max(1.0)),
            Kind::Percent => {
                let ticks = self.even_ticks(nice_step((self.high - self.low) / about));
                ticks.into_iter().map(|(v, _)| (v, number::percent(v))).collect()
            }
        }
    }

    fn even_ticks(&self, step: f64) -> Vec<(f64, String)> {
        // A tick at the very end is not lost to rounding.
        let (first, last) = ((self.inner.0 / step - 1e-9).ceil(), (self.inner.1 / step + 1e-9).floor());
        // A range so far from zero that steps are lost in its digits has no ticks worth their name.
        let count = (last - first).clamp(0.0, 100.0) as usize;
        let unit = 10_f64.powi(self.power());
        (0..=count).map(|i| (first + i as f64) * step).map(|v| (v, tick_label(v / unit, step / unit))).collect()
    }

    /// 0, and 1, 2 or 5 times powers of ten near even places.
    fn root_ticks(&self, about: f64) -> Vec<(f64, String)> {
        let near = |i: usize| {
            let value = (i as f64 / about * self.high).powi(2);
            let power = 10_f64.powf(value.log10().floor());
            [5.0, 2.0, 1.0].into_iter().map(|digit| digit * power).find(|nice| *nice <= value).unwrap_or(power)
        };
        let mut values: Vec<f64> = [0.0].into_iter().chain((1..=about as usize).map(near)).collect();
        values.dedup();
        values.into_iter().map(|v| (v, if v < 1e7 { tick_label(v, v.max(1.0)) } else { number::short(v) })).collect()
    }

    /// Powers of ten, every so many; within one decade, even steps.
    fn log_ticks(&self, about: f64) -> Vec<(f64, String)> {
        let decades = self.high.floor() - self.low.ceil();
        if decades < 1.0 {
            let linear = Self::between("", self.low(), self.high(), Kind::Linear);
            return linear.map(|axis| axis.ticks(about as usize)).unwrap_or_default();
        }
        if decades <= 2.0 && about >= 4.0 {
            return self.fine_log_ticks();
        }
        let every = match decades / (about + 1.5) {
            few @ ..=5.0 => few.ceil().max(1.0),
            many => (many / 5.0).ceil() * 5.0,
        };
        let count = (decades / every) as usize;
        let exponents = (0..=count).map(|i| (self.low.ceil() / every).ceil() * every + i as f64 * every);
        // Below the smallest number there is no tick.
        exponents
            .filter(|e| *e <= self.high && 10_f64.powf(*e) > 0.0)
            .map(|e| (10_f64.powf(e), power_label(e as i32)))
            .collect()
    }

    /// 1, 2 and 5 times powers of ten.
    fn fine_log_ticks(&self) -> Vec<(f64, String)> {
        let powers = self.low.floor() as i32..=self.high.ceil() as i32;
        let all = powers.flat_map(|e| [1.0, 2.0, 5.0].map(|digit| (digit * 10_f64.powi(e), e)));
        let label = |value: f64, e: i32| match e {
            -3..6 => number::fixed(value, usize::try_from(-e).unwrap_or(0)),
            _ => format!("{value:e}").replace('-', "−"),
        };
        let inside = all.filter(|(value, _)| (0.0..=1.0).contains(&self.place(*value)));
        inside.map(|(value, e)| (value, label(value, e))).collect()
    }
}

fn range(values: impl IntoIterator<Item = f64>) -> Option<(f64, f64)> {
    let finite = values.into_iter().filter(|v| v.is_finite());
    finite.fold(None, |range, v| range.map_or(Some((v, v)), |(low, high): (f64, f64)| Some((low.min(v), high.max(v)))))
}

/// The nearest of 1, 2 or 5 times a power of ten.
fn nice_step(rough: f64) -> f64 {
    let power = 10_f64.powf(rough.log10().floor());
    let nice = match rough / power {
        ..1.5 => 1.0,
        ..3.5 => 2.0,
        ..7.5 => 5.0,
        _ => 10.0,
    };
    nice * power
}

fn tick_label(value: f64, step: f64) -> String {
    if value.abs() < step * 1e-6 {
        return "0".into();
    }
    // A step far below the size of the values would need digits without end.
    let decimals = usize::try_from(-(step * (1.0 + 1e-9)).log10().floor() as i32).unwrap_or(0).min(12);
    number::fixed(value, decimals).replace('-', "−")
}

/// "0.01", "100", "10⁻⁷".
fn power_label(exponent: i32) -> String {
    match exponent {
        -3..=-1 => number::fixed(10_f64.powi(exponent), exponent.unsigned_abs() as usize),
        0..=5 => number::fixed(10_f64.powi(exponent), 0),
        _ => raised(exponent),
    }
}

/// "10⁻⁷".
fn raised(exponent: i32) -> String {
    let small = |c: char| match c {
        '-' => '⁻',
        '1' => '¹',
        '2' => '²',
        '3' => '³',
        _ => c.to_digit(10).and_then(|d| char::from_u32(0x2070 + d)).unwrap_or(c),
    };
    format!("10{}", exponent.to_string().chars().map(small).collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(axis: Option<Axis>, about: usize) -> Vec<String> {
        axis.unwrap().ticks(about).into_iter().map(|t| t.1).collect()
    }

    #[test]
    fn ticks_are_round() {
        assert_eq!(labels(Axis::spanning("", -1.0, 1.0), 5), ["−1.0", "−0.5", "0", "0.5", "1.0"]);
        assert_eq!(labels(Axis::spanning("", 0.0, 25000.0), 5), ["0", "5,000", "10,000", "15,000", "20,000", "25,000"]);
        assert_eq!(labels(Axis::integers("", [1.0, 4.0]), 10), ["1", "2", "3", "4"]);
        assert_eq!(labels(Axis::shares(""), 5), ["0 %", "20 %", "40 %", "60 %", "80 %", "100 %"]);
        assert_eq!(labels(Axis::log("", [1e-8, 1.0, 0.0]), 4), ["10⁻⁸", "10⁻⁶", "10⁻⁴", "0.01", "1"]);
        assert_eq!(labels(Axis::log("", [1e-19, 1e5]), 4), ["10⁻²⁰", "10⁻¹⁵", "10⁻¹⁰", "10⁻⁵", "1", "100,000"]);
        assert_eq!(labels(Axis::log("", [0.3, 35.0]), 4), ["0.5", "1", "2", "5", "10", "20"]);
        assert_eq!(labels(Axis::log("", [2.0, 4.0]), 3), ["2", "3", "4"]);
        assert_eq!(labels(Axis::differences("", [0.0, 400.0]), 4), ["0", "20", "100", "200"]);
        assert_eq!(labels(Axis::differences("", [0.0, 4e6]), 3), ["0", "200,000", "1,000,000", "2,000,000"]);
        assert_eq!(labels(Axis::differences("", [0.0, 4.0]), 2), ["0", "2", "4"]);
    }

    /// 0 stands at the foot of no logarithm, and a scale that is not even says what it is.
    #[test]
    fn zero_stands_where_it_belongs() {
        let wide = Axis::differences("x", [0.0, 400.0]).unwrap();
        assert!(wide.heading().contains("square-root"));
        assert!((wide.place(0.0) - 0.02 / 1.06).abs() < 1e-12 && (wide.value(wide.high) - 400.0 * 1.0816).abs() < 1e-9);
        assert!((wide.place(100.0) - wide.place(0.0) - 0.5 / 1.06).abs() < 1e-12);
        let even = Axis::log_where_wide("x", &[0.0, 1e6]).unwrap();
        assert_eq!((even.heading().as_str(), even.ticks(4)[0].1.as_str()), ("x, × 10⁶", "0"));
        let log = Axis::log_where_wide("x", &[1e-9, 1e6]).unwrap();
        assert!(log.heading().contains("logarithmic") && log.low() > 0.0);
        assert_eq!(Axis::log_where_wide("x", &[1.0, 19.0]).unwrap().heading(), "x");
    }

    #[test]
    fn long_ticks_leave_a_power_to_the_heading() {
        let axis = Axis::spanning("error", 0.0, 1.2e9);
        assert_eq!(axis.as_ref().unwrap().heading(), "error, × 10⁹");
        assert_eq!(labels(axis, 3), ["0", "0.5", "1.0"]);
        let axis = Axis::spanning("error", 0.0, 4e-5);
        assert_eq!(axis.as_ref().unwrap().heading(), "error, × 10⁻⁶");
        assert_eq!(labels(axis, 2), ["0", "20", "40"]);
        assert_eq!(Axis::spanning("error", 0.0, 9e5).unwrap().heading(), "error");
    }

    #[test]
    fn odd_ranges_have_an_axis_or_none() {
        for values in [vec![], vec![f64::NAN], vec![f64::MAX, f64::MIN]] {
            assert_eq!(Axis::linear("", values), None);
        }
        assert_eq!(Axis::log("", [0.0, -1.0]), None);
        for value in [0.0, 5e-324, -3.0, 1e300, 1e9] {
            let axis = Axis::linear("", [value, value]).unwrap();
            assert!((axis.place(value) - 0.5).abs() < 0.01, "{value}");
            assert!(axis.ticks(5).len() <= 101);
        }
        let far = Axis::linear("", [1e15, 1e15 + 1.0]).unwrap();
        assert!(far.ticks(5).len() <= 101);
    }
}
