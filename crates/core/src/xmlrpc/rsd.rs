//! The RSD document, by which desktop editors find the interface and its methods.

use crate::registry::Registry;
use quick_xml::escape::escape;

/// The document for a registry: the declared families of methods, the first one preferred, and the REST base.
pub fn document(registry: &Registry) -> String {
    let site = &registry.site;
    let address = format!("{}{}", site.url, registry.declaration.xmlrpc.path);
    let mut apis = String::new();
    for (place, name) in registry.declaration.xmlrpc.apis.iter().enumerate() {
        apis.push_str(&format!(
            "      <api name=\"{}\" blogID=\"1\" preferred=\"{}\" apiLink=\"{}\"/>\n",
            escape(name.as_str()),
            place == 0,
            escape(address.as_str())
        ));
    }
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
         <rsd version=\"1.0\" xmlns=\"http://archipelago.phrasewise.com/rsd\">\n  <service>\n    \
         <engineName>{engine}</engineName>\n    <homePageLink>{url}</homePageLink>\n    <apis>\n{apis}      \
         <api name=\"WP-API\" blogID=\"1\" preferred=\"false\" apiLink=\"{rest}/\"/>\n    </apis>\n  </service>\n</rsd>\n",
        engine = env!("CARGO_PKG_NAME"),
        url = escape(site.url.as_str()),
        rest = escape(site.rest_url.as_str()),
    )
}
