/** The page of the API reference. It names files beside it only, so that it also works below a path of a proxy. */
export const page = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Gatehouse API reference</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="swagger-ui.css">
<link rel="stylesheet" href="reference.css">
</head>
<body>
<div id="reference"></div>
<noscript>This page needs scripts. The same is in <a href="../openapi.json">openapi.json</a>.</noscript>
<script src="swagger-ui-bundle.js"></script>
<script src="reference.js"></script>
</body>
</html>
`;

export const style = `body { margin: 0; }
.swagger-ui .topbar { display: none; }
`;

/**
 * Shows the document with the address at which this browser reaches the API. A token that is typed in stays in the page;
 * the policy of the page keeps it from being sent elsewhere.
 */
export const script = `const base = new URL('..', location.href);
const address = base.href.replace(/\\/$/, '');

fetch(new URL('openapi.json', base))
  .then((response) => response.json())
  .then((document) => {
    SwaggerUIBundle({
      spec: { ...document, servers: [{ url: address }] },
      domNode: window.document.getElementById('reference'),
      deepLinking: true,
      defaultModelsExpandDepth: 0,
      displayRequestDuration: true,
      docExpansion: 'none',
      filter: true,
      persistAuthorization: false,
      queryConfigEnabled: false,
      syntaxHighlight: { activated: false },
      validatorUrl: null,
    });
  })
  .catch((error) => {
    window.document.getElementById('reference').textContent = 'The reference cannot be shown: ' + error.message;
  });
`;
