//! From values to places: the range of an axis and its ticks.

use super::number;

/// One axis.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Axis {
    /// What it shows, with its unit.
    pub title: String,
    low: f64,
    high: f64,
    kind: Kind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Linear,
    Integers,
    Log,
    Percent,
}

impl Axis {
    /// Around some values, with a little room. `None` when there is none, or their range has no size that a machine
    /// can hold.
    pub(super) fn linear(title: &str, values: impl IntoIterator<Item = f64>) -> Option<Self> {
        let (low, high) = range(values)?;
        let room = if high > low { (high - low) * 0.04 } else { low.abs() * 0.05 };
        let room = if room > 0.0 { room } else { 1.0 };
        Self::between(title, low - room, high + room, Kind::Linear)
    }

    /// Exactly from one value to another.
    #[cfg(test)]
    pub(super) fn spanning(title: &str, low: f64, high: f64) -> Option<Self> {
        Self::between(title, low, high, Kind::Linear)
    }

    /// Shares, 0 to 1.
    pub(super) fn shares(title: &str) -> Option<Self> {
        Self::between(title, 0.0, 1.0, Kind::Percent)
    }

    /// Around whole numbers: ticks at whole numbers only.
    pub(super) fn integers(title: &str, values: impl IntoIterator<Item = f64>) -> Option<Self> {
        let (low, high) = range(values)?;
        let room = if high > low { (high - low) * 0.03 } else { 1.0 };
        Self::between(title, low - room, high + room, Kind::Integers)
    }

    /// Around the positive ones of some values, by their logarithm.
    pub(super) fn log(title: &str, values: impl IntoIterator<Item = f64>) -> Option<Self> {
        let (low, high) = range(values.into_iter().filter(|&v| v > 0.0))?;
        let room = ((high.log10() - low.log10()) * 0.05).max(0.05);
        let (low, high) = (low.log10() - room, high.log10() + room);
        Self::between(title, low, high, Kind::Log)
    }

    fn between(title: &str, low: f64, high: f64, kind: Kind) -> Option<Self> {
        let sound = high > low && (high - low).is_finite();
        sound.then(|| Self { title: title.into(), low, high, kind })
    }

    /// 0 at the low end, 1 at the high one.
    pub(super) fn place(&self, value: f64) -> f64 {
        let value = if self.kind == Kind::Log { value.log10() } else { value };
        (value - self.low) / (self.high - self.low)
    }

    /// The lowest value.
    pub(super) fn low(&self) -> f64 {
        if self.kind == Kind::Log { 10_f64.powf(self.low) } else { self.low }
    }

    /// The highest value.
    pub(super) fn high(&self) -> f64 {
        if self.kind == Kind::Log { 10_f64.powf(self.high) } else { self.high }
    }

    /// About so many ticks: where, and what stands there.
    pub(super) fn ticks(&self, about: usize) -> Vec<(f64, String)> {
        let about = about.max(2) as f64;
        match self.kind {
            Kind::Log => self.log_ticks(about),
            Kind::Linear => self.even_ticks(nice_step((self.high - self.low) / about)),
            Kind::Integers => self.even_ticks(nice_step((self.high - self.low) / about).max(1.0)),
            Kind::Percent => {
                let ticks = self.even_ticks(nice_step((self.high - self.low) / about));
                ticks.into_iter().map(|(v, _)| (v, number::percent(v))).collect()
            }
        }
    }

    fn even_ticks(&self, step: f64) -> Vec<(f64, String)> {
        let (first, last) = ((self.low / step).ceil(), (self.high / step).floor());
        // A range so far from zero that steps are lost in its digits has no ticks worth their name.
        let count = (last - first).clamp(0.0, 100.0) as usize;
        let size = self.low.abs().max(self.high.abs());
        (0..=count).map(|i| (first + i as f64) * step).map(|v| (v, tick_label(v, step, size))).collect()
    }

    /// Powers of ten, every so many; within one decade, even steps.
    fn log_ticks(&self, about: f64) -> Vec<(f64, String)> {
        let decades = self.high.floor() - self.low.ceil();
        if decades < 1.0 {
            let linear = Self { kind: Kind::Linear, low: self.low(), high: self.high(), title: String::new() };
            return linear.even_ticks(nice_step((linear.high - linear.low) / about));
        }
        let every = (decades / about).ceil().max(1.0);
        let count = (decades / every) as usize;
        let exponents = (0..=count).map(|i| (self.low.ceil() / every).ceil() * every + i as f64 * every);
        exponents.filter(|e| *e <= self.high).map(|e| (10_f64.powf(e), power_label(e as i32))).collect()
    }
}

/// Least and greatest of the finite values.
fn range(values: impl IntoIterator<Item = f64>) -> Option<(f64, f64)> {
    let finite = values.into_iter().filter(|v| v.is_finite());
    finite.fold(None, |range, v| range.map_or(Some((v, v)), |(low, high): (f64, f64)| Some((low.min(v), high.max(v)))))
}

/// 1, 2 or 5 times a power of ten, at least as much.
fn nice_step(rough: f64) -> f64 {
    let power = 10_f64.powf(rough.log10().floor());
    let factor = rough / power;
    // The slack forgives the rounding of the logarithm.
    let nice = [1.0, 2.0, 5.0].into_iter().find(|n| factor <= n * (1.0 + 1e-9)).unwrap_or(10.0);
    nice * power
}

/// As many decimals as the step needs; in scientific form where it would be long.
fn tick_label(value: f64, step: f64, size: f64) -> String {
    let (step_power, size_power) = (step.log10().floor() as i32, size.log10().floor() as i32);
    if value.abs() < step * 1e-6 {
        return "0".into();
    }
    let text = if size_power >= 6 || step_power < -4 {
        let digits = usize::try_from(value.abs().log10().floor() as i32 - step_power).unwrap_or(0).min(15);
        format!("{value:.digits$e}")
    } else {
        number::fixed(value, usize::try_from(-step_power).unwrap_or(0))
    };
    text.replace('-', "−")
}

/// "0.01", "100", "10⁻⁷".
fn power_label(exponent: i32) -> String {
    match exponent {
        -3..=-1 => number::fixed(10_f64.powi(exponent), exponent.unsigned_abs() as usize),
        0..=5 => number::fixed(10_f64.powi(exponent), 0),
        _ => {
            let raised = |c: char| match c {
                '-' => '⁻',
                '1' => '¹',
                '2' => '²',
                '3' => '³',
                _ => c.to_digit(10).and_then(|d| char::from_u32(0x2070 + d)).unwrap_or(c),
            };
            format!("10{}", exponent.to_string().chars().map(raised).collect::<String>())
        }
    }
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
        assert_eq!(labels(Axis::spanning("", 0.0, 25000.0), 5), ["0", "5000", "10,000", "15,000", "20,000", "25,000"]);
        assert_eq!(labels(Axis::integers("", [1.0, 4.0]), 10), ["1", "2", "3", "4"]);
        assert_eq!(labels(Axis::shares(""), 5), ["0 %", "20 %", "40 %", "60 %", "80 %", "100 %"]);
        assert_eq!(labels(Axis::log("", [1e-8, 1.0, 0.0]), 4), ["10⁻⁸", "10⁻⁶", "0.01", "1"]);
        assert_eq!(labels(Axis::log("", [2.0, 4.0]), 4), ["2", "3", "4"]);
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
