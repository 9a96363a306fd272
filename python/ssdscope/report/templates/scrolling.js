// Says of a table or picture that is wider than its place that it goes on, and lets keys scroll it.
// Without it, shadows at the edge say so.
"use strict";
(() => {
  const places = document.querySelectorAll(".scroll, .picture");
  function look(place) {
    const more = place.scrollWidth > place.clientWidth + 1;
    place.classList.toggle("scrolls", more);
    if (more) {
      place.tabIndex = 0;
      place.setAttribute("role", "region");
      place.setAttribute("aria-label", "Goes on to the right: scroll sideways");
    } else for (const name of ["tabindex", "role", "aria-label"]) place.removeAttribute(name);
  }
  const watch = new ResizeObserver((seen) => { for (const each of seen) look(each.target); });
  for (const place of places) {
    look(place);
    watch.observe(place);
  }
})();
