function near(actual, expected, tolerance, what)
% near(actual, expected, tolerance, what)   fails unless all numbers are within an absolute tolerance
  off = max(abs(actual(:) - expected(:)));
  if ~(off <= tolerance)
    error('%s: off by %g, allowed %g', what, off, tolerance);
  end
end
