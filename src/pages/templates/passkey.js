// Makes and uses passkeys; without this script, and in browsers that have none, their buttons stay hidden.
const bytes = (text) => Uint8Array.from(atob(text.replace(/-/g, "+").replace(/_/g, "/")), (char) => char.charCodeAt(0));

const text = (buffer) =>
  btoa(String.fromCharCode(...new Uint8Array(buffer))).replace(/\+/g, "-").replace(/\//g, "_").replace(/=+$/, "");

const known = (list) => (list ?? []).map((one) => ({ ...one, id: bytes(one.id) }));

async function create(options) {
  const user = { ...options.user, id: bytes(options.user.id) };
  const excludeCredentials = known(options.excludeCredentials);
  const publicKey = { ...options, user, excludeCredentials, challenge: bytes(options.challenge) };
  const { rawId, response } = await navigator.credentials.create({ publicKey });
  return {
    id: text(rawId),
    response: {
      clientDataJSON: text(response.clientDataJSON),
      authenticatorData: text(response.getAuthenticatorData()),
      publicKey: text(response.getPublicKey()),
    },
  };
}

async function get(options) {
  const allowCredentials = known(options.allowCredentials);
  const publicKey = { ...options, allowCredentials, challenge: bytes(options.challenge) };
  const { rawId, response } = await navigator.credentials.get({ publicKey });
  return {
    id: text(rawId),
    response: {
      clientDataJSON: text(response.clientDataJSON),
      authenticatorData: text(response.authenticatorData),
      signature: text(response.signature),
      userHandle: response.userHandle ? text(response.userHandle) : null,
    },
  };
}

for (const button of window.PublicKeyCredential ? document.querySelectorAll("[data-passkey]") : []) {
  const form = button.form;
  button.hidden = false;
  button.addEventListener("click", async () => {
    // The passkey takes the place of the code.
    const code = form.elements.namedItem("code");
    if (code) code.required = false;
    const fits = button.formNoValidate || form.reportValidity();
    if (code) code.required = true;
    if (!fits) return;
    const failure = form.querySelector("[role=alert]");
    failure.hidden = true;
    button.disabled = true;
    try {
      const options = JSON.parse(button.dataset.options);
      const made = await (button.dataset.passkey === "create" ? create(options) : get(options));
      form.elements.namedItem("passkey").value = JSON.stringify(made);
      form.submit();
    } catch (error) {
      console.error(error);
      failure.hidden = false;
      button.disabled = false;
    }
  });
}
