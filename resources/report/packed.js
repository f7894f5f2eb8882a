// Unpacks a text from gzip in base64.
async function unpackedJson(packed) {
  const bytes = Uint8Array.from(atob(packed), (character) => character.charCodeAt(0));
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).json();
}
// Elements that are useful only with scripts.
for (const one of document.querySelectorAll(".script")) one.hidden = false;
