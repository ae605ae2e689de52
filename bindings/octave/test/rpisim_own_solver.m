function z = rpisim_own_solver(A, b)
% rpisim_own_solver   a solver for the tests: counts its calls, and leaves the work to Lemke's method
  global rpisim_calls
  rpisim_calls = rpisim_calls + 1;
  z = lemke(A, b);
end
