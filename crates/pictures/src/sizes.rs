//! Arithmetic of sizes: what a picture becomes when it is brought to a declared size. Knows no pixels.

use cms_declaration::PictureSize;

/// How a smaller copy is cut from a picture: a rectangle of it, and the size that becomes of the rectangle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Plan {
    pub left: u32,
    pub top: u32,
    pub from: (u32, u32),
    pub to: (u32, u32),
}

/// How a picture of `width` by `height` is resized; `None` when it would not get smaller.
pub fn plan((width, height): (u32, u32), size: &PictureSize) -> Option<Plan> {
    if width == 0 || height == 0 || (size.width == 0 && size.height == 0) {
        return None;
    }
    let plan = if size.crop { cut((width, height), size) } else { fit((width, height), size) };
    // A pixel more or less is no other size.
    let same = plan.to.0.abs_diff(width) <= 1 && plan.to.1.abs_diff(height) <= 1;
    let larger = plan.to.0 > width || plan.to.1 > height;
    (!same && !larger).then_some(plan)
}

fn fit((width, height): (u32, u32), size: &PictureSize) -> Plan {
    let ratio = |side: u32, most: u32| if most > 0 && side > most { f64::from(most) / f64::from(side) } else { 1.0 };
    let (across, down) = (ratio(width, size.width), ratio(height, size.height));
    let ratio = across.min(down);
    let scaled = |side: u32, own: f64, most: u32| {
        let side = (f64::from(side) * ratio).round().max(1.0) as u32;
        // Rounding must not fall one short of the requested side.
        if own < 1.0 && side + 1 == most { most } else { side }
    };
    let to = (scaled(width, across, size.width), scaled(height, down, size.height));
    Plan { left: 0, top: 0, from: (width, height), to }
}

fn cut((width, height): (u32, u32), size: &PictureSize) -> Plan {
    let aspect = f64::from(width) / f64::from(height);
    let mut to = (size.width.min(width), size.height.min(height));
    if to.0 == 0 {
        to.0 = (f64::from(to.1) * aspect).round().max(1.0) as u32;
    }
    if to.1 == 0 {
        to.1 = (f64::from(to.0) / aspect).round().max(1.0) as u32;
    }
    let ratio = (f64::from(to.0) / f64::from(width)).max(f64::from(to.1) / f64::from(height));
    let part = |side: u32, whole: u32| ((f64::from(side) / ratio).round() as u32).clamp(1, whole);
    let from = (part(to.0, width), part(to.1, height));
    Plan { left: (width - from.0) / 2, top: (height - from.1) / 2, from, to }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plans() {
        let check = |from: (u32, u32), size: (u32, u32, bool), expected: Option<(u32, u32)>| {
            let size = PictureSize { width: size.0, height: size.1, crop: size.2, quality: None };
            assert_eq!(plan(from, &size).map(|p| p.to), expected, "{from:?} to {size:?}");
        };
        check((400, 320), (150, 150, true), Some((150, 150)));
        check((400, 320), (300, 300, false), Some((300, 240)));
        check((400, 320), (768, 0, false), None);
        check((400, 320), (1024, 1024, false), None);
        check((8, 8), (150, 150, true), None);
        check((400, 100), (150, 150, true), Some((150, 100)));
        check((100, 150), (150, 150, true), None);
        check((301, 300), (300, 300, false), None);
        check((4000, 3000), (768, 0, false), Some((768, 576)));
        check((10_000, 1), (300, 300, false), Some((300, 1)));
        check((2000, 1333), (1536, 1536, false), Some((1536, 1024)));
        check((0, 5), (10, 10, true), None);
        check((50, 50), (0, 0, true), None);
    }

    #[test]
    fn cuts_come_from_the_middle() {
        let size = PictureSize { width: 150, height: 150, crop: true, quality: None };
        let plan = plan((400, 320), &size).expect("smaller");
        assert_eq!((plan.left, plan.top, plan.from), (40, 0, (320, 320)));
    }
}
