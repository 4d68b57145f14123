// Browsers refuse to read the search index of a site that is opened from disk: offer no search there.
if (location.protocol === "file:") {
  for (const part of document.querySelectorAll('[data-md-component="search"], .md-search, label[for="__search"]'))
    part.remove();
}
