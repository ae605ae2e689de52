function sim = rpisim_controller(sim)
% rpisim_controller   a user function for the tests: PD control of all joints to sin(0.01 step), written for RPIsim
  target = sin(0.01 * sim.step);
  for j = 1:numel(sim.joints)
    sim.bodies(sim.joints(j).body1id).Fext(4:6) = 0;
    sim.bodies(sim.joints(j).body2id).Fext(4:6) = 0;
  end
  for j = 1:numel(sim.joints)
    J = sim.joints(j);
    torque = 50 * (target - J.theta) - 5 * (J.theta - J.theta_prev) / sim.h;
    t1 = J.T1world(1:3, 1:3) * [0; 0; -torque];
    t2 = J.T2world(1:3, 1:3) * [0; 0; torque];
    sim.bodies(J.body1id).Fext(4:6) = sim.bodies(J.body1id).Fext(4:6) + t1;
    sim.bodies(J.body2id).Fext(4:6) = sim.bodies(J.body2id).Fext(4:6) + t2;
    sim.joints(j).theta_prev = J.theta;
  end
end
