// The text of what is packed in the page as gzip in base64.
async function unpackedJson(packed) {
  const bytes = Uint8Array.from(atob(packed), (character) => character.charCodeAt(0));
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).json();
}
// What is only of use with a script.
for (const one of document.querySelectorAll(".script")) one.hidden = false;
