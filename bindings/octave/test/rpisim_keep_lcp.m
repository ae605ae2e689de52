function z = rpisim_keep_lcp(A, b)
% rpisim_keep_lcp   a solver for the tests that keeps the last LCP
  global rpisim_calls
  rpisim_calls = struct('A', full(A), 'b', b);
  z = lemke(A, b);
end
