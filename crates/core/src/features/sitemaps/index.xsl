<?xml version="1.0" encoding="UTF-8"?>
<xsl:stylesheet version="1.0" xmlns:xsl="http://www.w3.org/1999/XSL/Transform" xmlns:s="http://www.sitemaps.org/schemas/sitemap/0.9" exclude-result-prefixes="s">
  <xsl:output method="html" encoding="UTF-8" indent="yes" />
  <xsl:template match="/">
    <html lang="en">
      <head>
        <title>Sitemap</title>
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <style>:root { color-scheme: light dark } body { font: 1rem/1.5 system-ui, sans-serif; margin: 2rem } td, th { text-align: left; padding: .25rem 1rem .25rem 0 }</style>
      </head>
      <body>
        <h1>Sitemap</h1>
        <table>
          <tr><th>Address</th><th>Last change</th></tr>
          <xsl:for-each select="s:sitemapindex/s:sitemap">
            <tr>
              <td><a href="{s:loc}"><xsl:value-of select="s:loc" /></a></td>
              <td><xsl:value-of select="s:lastmod" /></td>
            </tr>
          </xsl:for-each>
        </table>
      </body>
    </html>
  </xsl:template>
</xsl:stylesheet>
