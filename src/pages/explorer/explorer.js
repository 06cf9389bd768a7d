// Shows the service's description with Swagger UI. Requests go to this site alone, with the session of the page where
// there is one.
"use strict";
(() => {
  const place = document.getElementById("explorer");
  const { description, nonce, nonceHeader } = place.dataset;
  SwaggerUIBundle({
    domNode: place,
    url: description,
    presets: [SwaggerUIBundle.presets.apis],
    deepLinking: true,
    docExpansion: "none",
    defaultModelsExpandDepth: -1,
    filter: true,
    tryItOutEnabled: true,
    displayRequestDuration: true,
    syntaxHighlight: { activated: true, theme: "agate" },
    validatorUrl: null,
    requestInterceptor(request) {
      const own = new URL(request.url, location.href).origin === location.origin;
      const authorized = Object.keys(request.headers).some((name) => name.toLowerCase() === "authorization");
      if (own && nonce && !authorized) {
        request.headers[nonceHeader] = nonce;
      }
      return request;
    },
  });
})();
