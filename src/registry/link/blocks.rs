//! The declared styles of blocks, by block.

use cms_config::declaration::{BlockSupports, Declaration, ExcerptPart, StyleGroup};
use cms_text::block_css::FluidWidths;
use cms_text::block_styles::{BlockClass, BlockStyle, BlockStyles, Excerpt, WrapperStyles};
use cms_text::layout::{BlockLayout, LayoutRules};
use serde_json::Value;
use std::collections::{HashMap, HashSet};

/// `block_classes`, `block_supports` and `block_styles` in one.
pub(super) fn block_styles(declared: &Declaration) -> BlockStyles {
    let (classes, supports, styles) = (&declared.block_classes, &declared.block_supports, &declared.block_styles);
    let text = |text: Option<&String>| text.map(|text| Value::from(text.as_str()));
    let style = |name: &String| {
        let can = supports.get(name).map_or_else(BlockSupports::default, BlockSupports::clone);
        let class = classes.get(name).map(|class| BlockClass {
            class: class.class.clone(),
            elements: class.elements.clone(),
            last: class.last,
        });
        BlockStyle {
            class,
            layout: can
                .layout
                .map(|default| BlockLayout { default: Value::Object(default), gap: text(styles.gaps.get(name)) }),
            variations: styles.variations.get(name).cloned().unwrap_or_default(),
            numbered: can.numbered_class,
            aspect_ratio: can.aspect_ratio,
            position: can.position,
            visibility: can.visibility,
            css: can.css,
            element_colors: can.element_colors,
            width: can.width,
            filled: can.filled,
            sourced: can.sourced,
            opened_by: can.opened_by,
            data_id: can.data_id,
            numbers_pictures: can.numbers_pictures,
            paragraphs: can.paragraphs,
            inside: can.inside,
            duotone: can.duotone,
            styled: WrapperStyles {
                colors: !can.unstyled.contains(&StyleGroup::Colors),
                typography: !can.unstyled.contains(&StyleGroup::Typography),
                border: !can.unstyled.contains(&StyleGroup::Border),
                spacing: !can.unstyled.contains(&StyleGroup::Spacing),
            },
            excerpt: can.excerpt.map(|part| match part {
                ExcerptPart::Text => Excerpt::Text,
                ExcerptPart::Inside => Excerpt::Inside,
            }),
        }
    };
    let names: HashSet<&String> = classes.keys().chain(supports.keys()).chain(styles.variations.keys()).collect();
    let blocks: HashMap<String, BlockStyle> = names.into_iter().map(|name| (name.clone(), style(name))).collect();
    let gap = text(styles.gap.as_ref()).unwrap_or(Value::Null);
    let fluid = styles.fluid.filter(|fluid| fluid.widest > fluid.narrowest);
    let fluid = fluid.map(|fluid| FluidWidths { narrowest: fluid.narrowest.into(), widest: fluid.widest.into() });
    BlockStyles {
        blocks,
        layouts: LayoutRules { gap, root_padding: styles.root_padding },
        fluid,
        duotones: styles.duotones.clone(),
    }
}
