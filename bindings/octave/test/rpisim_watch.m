function sim = rpisim_watch(sim)
% rpisim_watch   a user function for the tests: keeps x and z of body 2 and the number of each step
  sim.userData.z(end + 1) = sim.bodies(2).u(3);
  sim.userData.x(sim.step) = sim.bodies(2).u(1);
  sim.userData.steps(sim.step) = sim.step;
end
