// What scrolls can be reached by keyboard, and the bar at the top is a landmark.
document.addEventListener("DOMContentLoaded", () => {
  document.querySelectorAll(".navbar").forEach((bar) => bar.setAttribute("role", "banner"));
  document.querySelectorAll(".col-md-9 pre, .col-md-9 table").forEach((one) => {
    if (one.scrollWidth > one.clientWidth) one.tabIndex = 0;
  });
});
